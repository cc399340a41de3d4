/** Writes ICC profiles for tests: header, tag table, tags; nothing checked. */

export type Tag = readonly [signature: string, content: Buffer];

export function profile(space: string, tags: readonly Tag[], connection = 'XYZ '): Uint8Array {
  const header = Buffer.alloc(128);
  header.write('mntr', 12, 'latin1');
  header.write(space.padEnd(4), 16, 'latin1');
  header.write(connection, 20, 'latin1');
  header.write('acsp', 36, 'latin1');
  const table = Buffer.alloc(4 + 12 * tags.length);
  table.writeUInt32BE(tags.length, 0);
  let at = header.length + table.length;
  tags.forEach(([signature, content], i) => {
    table.write(signature, 4 + 12 * i, 'latin1');
    table.writeUInt32BE(at, 8 + 12 * i);
    table.writeUInt32BE(content.length, 12 + 12 * i);
    at += content.length;
  });
  const bytes = Buffer.concat([header, table, ...tags.map(([, content]) => content)]);
  bytes.writeUInt32BE(bytes.length, 0);
  return bytes;
}

/** A colour of the connection space. */
export function xyz(...values: readonly number[]): Buffer {
  return Buffer.concat([Buffer.from('XYZ \0\0\0\0', 'latin1'), ...values.map(fixed)]);
}

/** A curve of values 0…1: none for the identity, one (then a power) or a table. */
export function curve(...entries: readonly number[]): Buffer {
  const bytes = Buffer.alloc(12 + 2 * entries.length);
  bytes.write('curv', 0, 'latin1');
  bytes.writeUInt32BE(entries.length, 8);
  const scale = entries.length === 1 ? 256 : 65_535;
  entries.forEach((entry, i) => {
    bytes.writeUInt16BE(Math.round(entry * scale), 12 + 2 * i);
  });
  return bytes;
}

/** A curve by formula number `kind` (0…4). */
export function formula(kind: number, ...parameters: readonly number[]): Buffer {
  const head = Buffer.alloc(12);
  head.write('para', 0, 'latin1');
  head.writeUInt16BE(kind, 8);
  return Buffer.concat([head, ...parameters.map(fixed)]);
}

function fixed(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Math.round(value * 65_536));
  return bytes;
}
