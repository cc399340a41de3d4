// Bodies as they come: base64, long texts, strict JSON, limits, uploads, whatever the pieces are.
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Base64Decoder, decodeBase64 } from '../../src/http/base64.js';
import { readBody } from '../../src/http/body-reader.js';
import { type JsonBody, JsonBodyReader } from '../../src/http/json-body.js';
import { type Upload, UploadWriter } from '../../src/http/upload.js';
import { temporaryFolder } from '../support/jobs.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder('body');
});
afterEach(() => folder.remove());

/** The pieces of `bytes`, `size` each. */
function* pieces(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function decode(text: string, size: number): Buffer {
  const decoder = new Base64Decoder('input.bytes');
  const decoded = [...pieces(Buffer.from(text, 'latin1'), size)].map((piece) => decoder.push(piece));
  return Buffer.concat([...decoded, decoder.end()]);
}

describe('base64', () => {
  it.each([0, 1, 2, 3, 4, 57, 1000])('of %i random bytes comes back, in pieces of any size', (length) => {
    const bytes = randomBytes(length);
    for (const size of [1, 2, 3, 5, 64, 4000]) expect(decode(bytes.toString('base64'), size)).toEqual(bytes);
    expect(decodeBase64(bytes.toString('base64'), 'f')).toEqual(bytes);
  });

  it.each(['-', '_', ' ', '\n', '=', '\u0000', 'é', '.'])('with %j anywhere is refused at its place', (character) => {
    const good = randomBytes(3001).toString('base64');
    for (const at of [0, 1, 1000, good.length - 5]) {
      const bad = Buffer.from(good, 'latin1');
      bad.write(character, at, 'latin1');
      for (const size of [1, 3, 4, 700, 9000]) {
        expect(() => decode(bad.toString('latin1'), size)).toThrow(`input.bytes: character ${at + 1} is`);
      }
    }
  });

  it.each([
    ['QUI', /3 characters.*no multiple of 4/],
    ['QQ=', /3 characters.*no multiple of 4/],
    ['Q', /no multiple of 4/],
    ['Q===', /character 2 is "="/],
    ['QQ==QQ==', /character 3 is "="; padding stands at the end only/],
    ['data:application/ofd;base64,QUJD', /starts with "data:"/],
    ['DATA:,QUJD', /starts with "data:"/],
  ])('%s is refused', (text, says) => {
    for (const size of [1, 3, 100]) expect(() => decode(text, size)).toThrow(says);
  });
});

describe('a JSON body', () => {
  const long = 'QUJD'.repeat(20_000);

  async function parse(text: string | Buffer, size = 70_001): Promise<JsonBody> {
    const reader = new JsonBodyReader(() => new UploadWriter(folder.path), 'input.bytes');
    try {
      for (const piece of pieces(Buffer.from(text), size)) await reader.write(piece);
      return await reader.finish();
    } catch (error) {
      await reader.discard();
      throw error;
    }
  }

  const bytesOf = ({ input }: Upload): Buffer =>
    'path' in input ? readFileSync(input.path) : Buffer.from(input.bytes);

  it.each([1, 7, 4096, 65_536, 1_000_000])('with a long text is taken apart in pieces of %i', async (size) => {
    const { value, longText } = await parse(JSON.stringify({ a: { name: 'x"\\', bytes: long }, b: ['票'] }), size);
    const { a, b } = value as { a: { name: string; bytes: string }; b: string[] };
    expect([a.name, a.bytes, b]).toEqual(['x"\\', longText?.placeholder, ['票']]);
    const { upload } = longText as { upload: Upload };
    expect(bytesOf(upload).toString()).toBe('ABC'.repeat(20_000));
    expect(upload).toMatchObject({
      sizeBytes: 60_000,
      sha256: createHash('sha256').update('ABC'.repeat(20_000)).digest('hex'),
    });
  });

  it('without a long text is what JSON.parse says', async () => {
    const text = ` {"a": "\\"\\\\\\"", "b": ["${'x'.repeat(60_000)}\\\\"], "c": {"d": null, "e": -1.5e3}, "": ""} `;
    for (const size of [1, 2, 3, 1000]) {
      expect(await parse(text, size)).toEqual({ value: JSON.parse(text), longText: undefined });
    }
    const small = new JsonBodyReader(() => new UploadWriter(folder.path), 'input.bytes', 10);
    for (const piece of pieces(Buffer.from('{"a":"b"}'), 2)) await small.write(piece);
    expect((await small.finish()).value).toEqual({ a: 'b' });
  });

  it('may have its slashes escaped, as PHP writes them', async () => {
    const text = `{"bytes":"${'QUJD/+8='.slice(0, 4).repeat(20_000)}\\/+\\u0038="}`;
    for (const size of [1, 5, 65_537, 100_000]) {
      const { longText } = await parse(text, size);
      expect(bytesOf(longText?.upload as Upload).subarray(-2)).toEqual(Buffer.from('/+8=', 'base64'));
    }
  });

  it.each([
    ['an invalid escape', `{"a":"${long}\\x"}`, /fault|escape/],
    ['a line break', `{"a":"${long}\\nQUJD"}`, /character 80001 is "\\n"/],
    ['a character of the URL alphabet', `{"a":"${long}-QUJ"}`, /character 80001 is "-"/],
  ])('whose long text has %s keeps the fault until the place of the text is known', async (_what, text, says) => {
    for (const size of [1000, 100_000]) {
      const { longText } = await parse(text, size);
      expect(longText).toMatchObject({ upload: undefined, fault: { message: expect.stringMatching(says) } });
    }
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.each([
    ['two long texts', `{"a":"${long}","b":"${long}"}`, /second long text/],
    ['a text without an end', `{"a":"${long}`, /starts at character 5 has no end/],
    ['a text that ends in a backslash', `{"a":"${long}\\`, /has no end/],
    ['a fault behind a long text', `{"a":"${long}" x}`, /character 80008: a comma or } was expected/],
    ['a fault before it', `{"a" "${long}"}`, /character 5: a colon was expected/],
    ['too much beside it', `[${'"abc",'.repeat(100_000)}1]`, /larger than 131072 bytes/],
    ['too many brackets', '['.repeat(600_000), /larger than 131072/],
    ['too much space', ' '.repeat(600_000), /larger than 131072/],
    ['a name twice', '{"a":1,"b":{"c":[{"d":1,"d":2}]}}', /^b\.c\.d: the field is given twice/],
    ['a name twice, spelt in two ways', '{"ab":1,"a\\u0062":2}', /^ab: the field is given twice/],
    ['bytes twice', `{"bytes":"${long}","bytes":"QUJD"}`, /^bytes: the field is given twice/],
  ])('with %s is refused', async (_what, text, says) => {
    for (const size of [777, 1_000_000]) await expect(parse(text, size)).rejects.toThrow(says);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('may use a name again elsewhere, and in texts', async () => {
    const text = '{"a":{"a":"a:{\\"a\\":1,"},"b":[{"a":1},{"a":"a"}]}';
    expect((await parse(text)).value).toEqual(JSON.parse(text));
  });

  it('cannot forge a placeholder: it is new every time', async () => {
    const once = async (): Promise<string> => (await parse(JSON.stringify([long]))).longText?.placeholder as string;
    expect(await once()).not.toBe(await once());
  });
});

describe('an upload', () => {
  const hex = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

  async function write(bytes: Buffer, size: number): Promise<Upload> {
    const writer = new UploadWriter(folder.path);
    for (const piece of pieces(bytes, size)) await writer.write(piece);
    return writer.finish();
  }

  it.each([0, 1, 65_536])('of %i bytes stays in memory', async (length) => {
    const bytes = randomBytes(length);
    const upload = await write(bytes, 1000);
    expect(upload).toMatchObject({ sizeBytes: length, sha256: hex(bytes), input: { bytes } });
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.each([65_537, 3_000_000])('of %i bytes goes to a file, can be read anywhere, and is removed', async (length) => {
    const bytes = randomBytes(length);
    const upload = await write(bytes, 50_000);
    expect(upload).toMatchObject({ sizeBytes: length, sha256: hex(bytes), input: { path: expect.any(String) } });
    const read = await upload.read(async (source) => [
      await source.read(60_000, 10),
      await source.read(length - 5, 10),
    ]);
    expect(read).toEqual([bytes.subarray(60_000, 60_010), bytes.subarray(length - 5)]);
    await upload.discard();
    await upload.discard();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('that is broken off leaves nothing', async () => {
    const writer = new UploadWriter(folder.path);
    await writer.write(randomBytes(100_000));
    expect(readdirSync(folder.path)).toHaveLength(1);
    await writer.discard();
    expect(readdirSync(folder.path)).toEqual([]);
  });
});

describe('reading a body', () => {
  const limits = { declaredBytes: undefined, limitBytes: 100, advice: 'write less' };

  it('waits for whoever takes the pieces', async () => {
    const log: string[] = [];
    await readBody(Readable.from([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')]), limits, (piece) => {
      log.push(`${piece}`);
      return new Promise((resolve) =>
        setTimeout(() => {
          log.push(`${piece}.`);
          resolve();
        }, 5),
      );
    });
    expect(log).toEqual(['a', 'a.', 'b', 'b.', 'c', 'c.']);
  });

  it('ends at the limit', async () => {
    const body = (): Readable => Readable.from([Buffer.alloc(60), Buffer.alloc(60)]);
    const ignore = (): undefined => undefined;
    await expect(readBody(body(), limits, ignore)).rejects.toThrow(/100 bytes; write less/);
    await expect(readBody(body(), { ...limits, declaredBytes: 101 }, ignore)).rejects.toThrow(/100 bytes/);
    await expect(readBody(body(), { ...limits, limitBytes: 120, declaredBytes: 5 }, ignore)).resolves.toBeUndefined();
  });

  it.each(['at once', 'later'])('passes on what goes wrong with a piece, %s', async (when) => {
    const fail = (): undefined => {
      throw new Error('no room');
    };
    const take = when === 'later' ? async () => fail() : fail;
    await expect(readBody(Readable.from([Buffer.from('a'), Buffer.from('b')]), limits, take)).rejects.toThrow(
      'no room',
    );
  });

  it('ends when the other side goes away, also while a piece is being taken', async () => {
    for (const take of [() => undefined, () => new Promise<void>((resolve) => setTimeout(resolve, 20))]) {
      const body = new Readable({ read: () => undefined });
      body.push('abc');
      const reading = readBody(body, limits, take);
      setTimeout(() => body.destroy(), 5);
      await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
    }
  });
});
