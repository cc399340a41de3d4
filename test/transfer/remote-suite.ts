/** What every kind of remote target promises (contract S2–S7, X3), shown on a real server. */
import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceError } from '../../src/errors.js';
import { JOB, noise, RemoteHarness } from './remote-harness.js';
import type { TestServer } from './servers/server.js';

/** The folder of the target, as TestServer.target sets it. */
export const BOX = 'in/box';

/** The error that a delivery ends with. */
export async function failureOf(delivery: Promise<unknown>): Promise<ServiceError> {
  return delivery.then(
    () => {
      throw new Error('It was delivered');
    },
    (error: ServiceError) => error,
  );
}

export function remoteSuite(name: string, start: () => Promise<TestServer>): void {
  describe(`${name}: the contract of remote targets`, () => {
    let server: TestServer;
    let box: RemoteHarness;

    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.close());
    beforeEach(async () => {
      await server.empty();
      box = await RemoteHarness.open(server.kind, server.target());
    });
    afterEach(() => box?.close());

    const text = async (path: string): Promise<string | undefined> => (await server.read(path))?.toString();

    it('puts files under their names, below the folder of the target and that of the request', async () => {
      const files = [
        box.made('page-0001.png', 'one'),
        box.made('发票 №1 100%+#.pdf', 'two'),
        box.made('empty.txt', ''),
      ];
      const { output, receipts } = await box.deliver(files, { path: '2026/十一月/a..b' });
      expect(await server.list()).toEqual(files.map((file) => `${BOX}/2026/十一月/a..b/${file.name}`).sort());
      expect(await text(`${BOX}/2026/十一月/a..b/page-0001.png`)).toBe('one');
      expect(await text(`${BOX}/2026/十一月/a..b/发票 №1 100%+#.pdf`)).toBe('two');
      expect(await text(`${BOX}/2026/十一月/a..b/empty.txt`)).toBe('');
      expect(output).toMatchObject({ kind: server.kind, sizeBytes: 6 });
      expect(receipts.map(({ reused }) => reused)).toEqual([false, false, false]);
      for (const [index, { location, sha256, sizeBytes, name: fileName }] of receipts.entries()) {
        const file = files[index]!;
        expect([fileName, sizeBytes, sha256]).toEqual([file.name, file.sizeBytes, file.sha256]);
        expect(location.startsWith(`${output.path}/`)).toBe(true);
        expect(new URL(location)).toMatchObject({ username: '', password: '' });
      }
    });

    it('puts files into a folder that is there, beside those of others', async () => {
      await server.write(`${BOX}/2026/other.pdf`, 'theirs');
      await box.deliver([box.made('a.pdf', 'ours')], { path: '2026' });
      await box.deliver([box.made('b.pdf', 'ours too')], { path: '2026/', jobId: 'another' });
      await box.deliver([box.made('c.pdf', 'at the top')], { jobId: 'third' });
      expect(await server.list()).toEqual([
        `${BOX}/2026/a.pdf`,
        `${BOX}/2026/b.pdf`,
        `${BOX}/2026/other.pdf`,
        `${BOX}/c.pdf`,
      ]);
      expect(await text(`${BOX}/2026/other.pdf`)).toBe('theirs');
    });

    it.each([
      ['a ".." component', 'a/../b'],
      ['a ".." component', '..'],
      ['relative', '/etc'],
      ['a backslash', 'a\\b'],
      ['control characters', 'a\r\nDELE b'],
      ['more than 255 bytes', '长'.repeat(86)],
      ['at most 1024 bytes', 'a/'.repeat(513)],
    ])('refuses a path: %s', async (rule, path) => {
      const delivery = Promise.resolve().then(() => box.deliver([box.made('a.pdf', 'x')], { path }));
      const { code, message } = await failureOf(delivery);
      expect([code, message]).toEqual(['invalid_request', expect.stringContaining(rule)]);
      expect(message).toContain('output.remote.path');
    });

    it('leaves what stands there, the same bytes too, and says where', async () => {
      await server.write(`${BOX}/b.pdf`, 'content');
      const files = [box.made('a.pdf', 'x'), box.made('b.pdf', 'content')];
      const { code, message } = await failureOf(box.deliver(files));
      expect(code).toBe('conflict');
      expect(message).toMatch(/\/b\.pdf exists and is not overwritten/);
      expect(await server.list()).toEqual([`${BOX}/b.pdf`]);
      expect(await text(`${BOX}/b.pdf`)).toBe('content');
    });

    it('replaces where the target says overwrite', async () => {
      const replacing = await RemoteHarness.open(server.kind, { ...server.target(), overwrite: true });
      await server.write(`${BOX}/a.pdf`, 'an older one');
      const { receipts } = await replacing.deliver([replacing.made('a.pdf', 'new')]);
      expect(receipts).toMatchObject([{ reused: false }]);
      expect(await text(`${BOX}/a.pdf`)).toBe('new');
      expect(await server.list()).toEqual([`${BOX}/a.pdf`]);
      replacing.close();
    });

    it('lets one of two jobs have a name that both want', async () => {
      const contents = ['first', 'second', 'third', 'fourth'];
      const deliver = (index: number, attempt: number): Promise<unknown> => {
        const file = box.made(`same-${index}.pdf`, contents[index]!);
        return box.deliver([{ ...file, name: 'same.pdf' }], { jobId: `job${index}`, attempt });
      };
      const ends = await Promise.allSettled(contents.map((_content, index) => deliver(index, 1)));
      expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
      for (const [index, end] of ends.entries()) {
        if (end.status === 'fulfilled') continue;
        // Some servers answer with an error of their own to two at a time: that may pass, and then does not.
        const { code } = end.reason as ServiceError;
        expect(code === 'sink_unreachable' ? (await failureOf(deliver(index, 2))).code : code).toBe('conflict');
      }
      expect(contents).toContain(await text(`${BOX}/same.pdf`));
      expect(await server.list()).toEqual([`${BOX}/same.pdf`]);
    });

    it('counts what an earlier attempt of the job has delivered, and sends the rest', async () => {
      const files = [box.made('1.png', 'one'), box.made('2.png', 'two'), box.made('3.png', 'three')];
      box.ledger.onDelivered = ({ name: fileName }) => {
        // As if the process had ended between the upload and the note of it.
        if (fileName === '2.png') throw new Error('killed');
      };
      await failureOf(box.deliver(files));
      expect(await server.list()).toEqual([`${BOX}/1.png`, `${BOX}/2.png`]);
      box.ledger.onDelivered = undefined;
      const { receipts } = await box.deliver(files, { attempt: 2 });
      expect(receipts.map(({ reused }) => reused)).toEqual([true, true, false]);
      expect(await text(`${BOX}/3.png`)).toBe('three');
      expect(await server.list()).toEqual([`${BOX}/1.png`, `${BOX}/2.png`, `${BOX}/3.png`]);
    });

    it('takes for its own only what has its content', async () => {
      const file = box.made('a.pdf', 'ours.');
      await box.ledger.plan(JOB, [{ ...file, location: (await located()).location }]);
      await server.write(`${BOX}/a.pdf`, 'other');
      expect((await failureOf(box.deliver([file], { attempt: 2 }))).code).toBe('conflict');
      expect(await text(`${BOX}/a.pdf`)).toBe('other');

      async function located(): Promise<{ location: string }> {
        const { receipts } = await box.deliver([file], { jobId: 'elsewhere' });
        return receipts[0]!;
      }
    });

    it('takes what it has delivered for its own no longer where another has changed it', async () => {
      const file = box.made('a.pdf', 'ours.');
      await box.deliver([file]);
      await server.write(`${BOX}/a.pdf`, 'other');
      expect((await failureOf(box.deliver([file], { attempt: 2 }))).code).toBe('conflict');
      expect(await text(`${BOX}/a.pdf`)).toBe('other');
    });

    it('replaces its own product of an earlier attempt that came out otherwise', async () => {
      await box.deliver([box.made('a.pdf', 'of the first run')]);
      const { receipts } = await box.deliver([box.made('a.pdf', 'of the second')], { attempt: 2 });
      expect(receipts).toMatchObject([{ reused: false }]);
      expect(await text(`${BOX}/a.pdf`)).toBe('of the second');
    });

    it('refuses a file over max_bytes before a byte goes out, and lets the conversion know', async () => {
      const small = await RemoteHarness.open(server.kind, { ...server.target(), max_bytes: 10 });
      const { code, message, reason } = await failureOf(small.deliver([small.made('a.pdf', 'eleven byte')]));
      expect([code, reason]).toEqual(['output_too_large', 'too_large']);
      expect(message).toMatch(/a\.pdf has 11 bytes; target "box" takes 10/);
      expect(await server.list()).toEqual([]);
      await small.deliver([small.made('a.pdf', 'ten bytes.')]);
      small.close();
    });

    it('never shows a product that changed after it was made', async () => {
      for (const change of ['other bytes', 'longer than it was', 'x']) {
        const file = box.made('a.pdf', 'right bytes');
        writeFileSync(file.path, change);
        expect((await failureOf(box.deliver([file]))).code).toBe('checksum_mismatch');
        // rclone keeps what it had of a request that broke off, under its temporary name, when it comes to notice.
        const left = (await server.list()).filter((path) => !(name === 'rclone' && path.endsWith('.part')));
        expect(left).toEqual([]);
      }
    });

    it('sends a large file whole, in pieces, and tells of life', async () => {
      const content = noise(20 * 1024 * 1024 + 3);
      let signs = 0;
      const before = process.memoryUsage().arrayBuffers;
      await box.deliver([box.made('large.pdf', content)], { onAlive: () => (signs += 1) });
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
      expect(signs).toBeGreaterThan(100);
      expect((await server.read(`${BOX}/large.pdf`))?.equals(content)).toBe(true);
      expect(await server.list()).toEqual([`${BOX}/large.pdf`]);
    });

    it('refuses a wrong login, and takes up the right one from its file', async () => {
      if (!('password' in server.target() || 'secret_key' in server.target()) || name === 'moto') return;
      const key = server.kind === 's3' ? 'secret_key' : 'password';
      const { [key]: right, ...keys } = server.target();
      const secret = box.made('secret', 'wrong-one');
      const guarded = await RemoteHarness.open(server.kind, {
        ...keys,
        [`${key}_file`]: secret.path,
        timeout_seconds: 20,
      });
      const { code, message } = await failureOf(guarded.deliver([guarded.made('a.pdf', 'x')]));
      expect(code).toBe('sink_refused');
      expect(message).toContain('Target "box"');
      expect(message).not.toContain('wrong-one');
      writeFileSync(secret.path, `${String(right)}\n`);
      await guarded.deliver([guarded.made('a.pdf', 'x')]);
      expect(await text(`${BOX}/a.pdf`)).toBe('x');
      guarded.close();
    });
  });
}
