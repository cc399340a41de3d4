/**
 * Messages name the fields of a request as its JSON does, `input.format`. Whoever sent them in another way, in a query or
 * as flags, is to read the names that he knows.
 */

/** What stands in quotes is a client's own text. */
const QUOTED = '"(?:[^"\\\\]|\\\\.)*"';

/**
 * @param names by the names that stand in the message
 */
export function withFieldNames(message: string, names: Readonly<Record<string, string>>): string {
  const fields = Object.keys(names).map((name) => name.replaceAll('.', '\\.'));
  const pattern = new RegExp(`${QUOTED}|(?<![\\w.])(?:${fields.join('|')})(?!\\w|\\.\\w)`, 'g');
  return message.replace(pattern, (found) => names[found] ?? found);
}
