/** The table of sinks: a kind is a line here. */
import type { SinkKind } from '../sink.js';
import { directorySink } from './directory.js';
import { streamSink } from './stream.js';

export const SINK_KINDS: readonly SinkKind[] = [streamSink, directorySink];

export function sinkKindNamed(kind: string): SinkKind | undefined {
  return SINK_KINDS.find((row) => row.kind === kind);
}
