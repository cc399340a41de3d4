// Request bodies and base64 by themselves: long texts, escapes, slices.
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { decodeBase64 } from '../../src/http/base64.js';
import { parseJsonBody, readBody, unescapeLongText } from '../../src/http/body.js';
import { attachment } from '../../src/http/disposition.js';

describe('base64', () => {
  it.each([1, 2, 3, 4, 57, 786_431, 786_432, 786_433, 3_000_000])('of %i random bytes comes back', async (size) => {
    const bytes = randomBytes(size);
    expect((await decodeBase64(Buffer.from(bytes.toString('base64')), 'f')).equals(bytes)).toBe(true);
  });

  it.each(['-', '_', ' ', '\n', '=', '\u0000', 'é', '.'])(
    'with %j anywhere is refused at its place',
    async (character) => {
      const good = randomBytes(2_000_001).toString('base64');
      for (const at of [0, 1000, 262_143, 262_144, good.length - 5]) {
        const bad = Buffer.from(good, 'latin1');
        bad.write(character, at, 'latin1');
        await expect(decodeBase64(bad, 'input.bytes')).rejects.toThrow(
          new RegExp(`input\\.bytes: character ${at + 1} is`),
        );
      }
    },
  );
});

describe('long texts', () => {
  const long = 'Q'.repeat(70_000);

  it('are cut out and found by their placeholder', () => {
    const { value, longTexts } = parseJsonBody(
      Buffer.from(JSON.stringify({ a: { bytes: long, name: 'x"\\' }, b: [long] })),
    );
    const { a, b } = value as { a: { bytes: string; name: string }; b: string[] };
    expect(longTexts.map(({ placeholder }) => placeholder)).toEqual([a.bytes, b[0]]);
    expect(longTexts.map(({ bytes }) => bytes.toString())).toEqual([long, long]);
    expect(a.name).toBe('x"\\');
  });

  it('end at the right quotation mark', () => {
    const text = `{"a":"${long}\\"${long}\\\\","b":1}`;
    const { value, longTexts } = parseJsonBody(Buffer.from(text));
    expect((value as { b: number }).b).toBe(1);
    expect(unescapeLongText(longTexts[0]!.bytes).toString()).toBe((JSON.parse(text) as { a: string }).a);
  });

  it('may have escaped slashes, as PHP writes them', () => {
    expect(unescapeLongText(Buffer.from('AB\\/C+\\u002f')).toString()).toBe('AB/C+/');
    expect(() => unescapeLongText(Buffer.from('AB\\x'))).toThrow(/escape/);
  });

  it('cannot be forged: a placeholder is new every time', () => {
    const once = (): string => parseJsonBody(Buffer.from(JSON.stringify([long]))).longTexts[0]!.placeholder;
    expect(once()).not.toBe(once());
  });

  it('are the only large thing that a body may have', () => {
    const many = JSON.stringify(Array.from({ length: 300_000 }, () => 'abc'));
    expect(() => parseJsonBody(Buffer.from(many))).toThrow(/larger than 1048576/);
    expect(() => parseJsonBody(Buffer.alloc(2_000_000, '['))).toThrow(/larger than 1048576/);
    expect(() => parseJsonBody(Buffer.alloc(2_000_000, ' '))).toThrow(/larger than 1048576/);
  });
});

describe('reading a body', () => {
  it('gives what came, whatever was declared', async () => {
    for (const declared of [undefined, 6, 10]) {
      const body = await readBody(Readable.from([Buffer.from('abc'), Buffer.from('def')]), declared, 100);
      expect(body.toString()).toBe('abcdef');
    }
  });

  it('ends at the limit', async () => {
    await expect(readBody(Readable.from([Buffer.alloc(60), Buffer.alloc(60)]), undefined, 100)).rejects.toThrow(
      /100 bytes/,
    );
    await expect(readBody(Readable.from([]), 101, 100)).rejects.toThrow(/max_upload_bytes/);
  });

  it('ends when the other side goes away', async () => {
    const body = new Readable({ read: () => undefined });
    const reading = readBody(body, 10, 100);
    body.destroy();
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
  });
});

it('file names of any script and with any sign fit a header', () => {
  expect(attachment('a b.pdf')).toBe(`attachment; filename="a b.pdf"; filename*=UTF-8''a%20b.pdf`);
  expect(attachment(`"\\%'()*票.pdf`)).toBe(
    `attachment; filename="___'()*_.pdf"; filename*=UTF-8''%22%5C%25%27%28%29%2A%E7%A5%A8.pdf`,
  );
});
