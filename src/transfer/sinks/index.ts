/** The table of sinks: a kind is a line here. */
import type { SinkKind } from '../sink.js';
import { directorySink } from './directory.js';
import { remoteSink } from './remote.js';
import { streamSink } from './stream.js';

export const SINK_KINDS: readonly SinkKind[] = [
  streamSink,
  directorySink,
  remoteSink('ftp'),
  remoteSink('s3'),
  remoteSink('webdav'),
  remoteSink('sftp'),
];

export function sinkKindNamed(kind: string): SinkKind | undefined {
  return SINK_KINDS.find((row) => row.kind === kind);
}
