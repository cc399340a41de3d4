/** Which engine makes which pair of formats, and the lane it runs in (contract B1, B3). */
import { ServiceError } from '../errors.js';
import type { FormatId } from '../formats.js';

export interface Plan {
  readonly engine: string;
  /** Decided here, written into the job, never changed. */
  readonly lane: 'fast' | 'heavy';
}

interface Engine extends Plan {
  readonly accepts: readonly FormatId[];
  readonly produces: readonly FormatId[];
}

const ENGINES: readonly Engine[] = [
  {
    engine: 'ofd',
    lane: 'fast',
    accepts: ['ofd'],
    produces: ['pdf', 'html', 'json', 'txt', 'md', 'png', 'jpeg', 'webp', 'svg'],
  },
];

/** The plan of a pair. Throws `unsupported_conversion`, which says what is missing. */
export function planFor(from: FormatId, to: FormatId): Plan {
  const readers = ENGINES.filter((engine) => engine.accepts.includes(from));
  const found = readers.find((engine) => engine.produces.includes(to));
  if (found) return { engine: found.engine, lane: found.lane };
  const outputs = [...new Set(readers.flatMap((engine) => engine.produces))];
  const inputs = [...new Set(ENGINES.flatMap((engine) => engine.accepts))];
  throw new ServiceError(
    'unsupported_conversion',
    outputs.length > 0
      ? `output.format: no engine makes ${to} from ${from}; from ${from} there are ${outputs.join(', ')}`
      : `input: no engine reads ${from}, so ${from} to ${to} is missing; what can be read is ${inputs.join(', ')}`,
    { reason: 'unsupported' },
  );
}
