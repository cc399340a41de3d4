/** What a client of a soak does at a time: one request or a few that belong together. */
import { batched, conflicting, damaged, dir, fetched, office, remote, replayed, stream, web } from './orderly.js';
import type { Scenario } from './scene.js';
import { burst, cancelled, followed, halfUpload, limited, looking, stoppedStream, vanishing, wrong } from './unruly.js';

export const SCENARIOS: readonly Scenario[] = [
  stream,
  dir,
  damaged,
  office,
  web,
  vanishing,
  halfUpload,
  followed,
  cancelled,
  stoppedStream,
  replayed,
  batched,
  remote,
  fetched,
  conflicting,
  burst,
  limited,
  wrong,
  looking,
];
