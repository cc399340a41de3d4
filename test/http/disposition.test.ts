// Content-Disposition: names of any script, out and in (RFC 6266, RFC 5987).
import { expect, it } from 'vitest';
import { attachment, fileNameOf } from '../../src/http/disposition.js';

it('file names of any script and with any sign fit a header', () => {
  expect(attachment('a b.pdf')).toBe(`attachment; filename="a b.pdf"; filename*=UTF-8''a%20b.pdf`);
  expect(attachment(`"\\%'()*票.pdf`)).toBe(
    `attachment; filename="output.pdf"; filename*=UTF-8''%22%5C%25%27%28%29%2A%E7%A5%A8.pdf`,
  );
});

it.each([
  ['发票.pdf', 'output.pdf'],
  ['发票 (2).pdf', '__ (2).pdf'],
  ['发票', 'output'],
  ['.pdf', '.pdf'],
])('the plain name of %s is %s', (name, plain) => expect(attachment(name)).toContain(`filename="${plain}";`));

it.each(['a.ofd', 'a b.ofd', `"\\%'()*;=票.ofd`, '发票 №1.ofd', '𠮷.ofd'])('%s comes back', (name) => {
  expect(fileNameOf(attachment(name))).toBe(name);
});

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

it.each([
  ['attachment', undefined],
  ['', undefined],
  ['attachment;', undefined],
  ['attachment; filename=a.ofd', 'a.ofd'],
  ['attachment;filename="a;b.ofd"', 'a;b.ofd'],
  ['inline ; FileName = "a \\"b\\".ofd" ; size=5', 'a "b".ofd'],
  [latin1('attachment; filename="发票.ofd"'), '发票.ofd'],
  ['attachment; filename="caf\u00e9.ofd"', 'café.ofd'],
  ['attachment; filename*=UTF-8\'zh\'%E7%A5%A8.ofd; filename="x.ofd"', '票.ofd'],
  ["attachment; filename*=ISO-8859-1''caf%E9.ofd", 'café.ofd'],
  ['form-data; name="file"; filename="a.ofd"', 'a.ofd'],
])('%j names %j', (header, name) => expect(fileNameOf(header)).toBe(name));

it.each([
  ['attachment; filename="a.ofd', /from "\\"a\.ofd" on/],
  ['attachment; filename=a b.ofd', /from "b\.ofd" on/],
  ['attachment; filename*=a.ofd', /filename\*="a\.ofd" is not readable/],
  ["attachment; filename*=GBK''%B7%A2.ofd", /not readable/],
  ["attachment; filename*=UTF-8''%B7%A2.ofd", /no UTF-8/],
])('%j is refused', (header, says) => expect(() => fileNameOf(header)).toThrow(says));
