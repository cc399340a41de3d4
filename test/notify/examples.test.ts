// The examples of docs/notifications.md: against what the service really sends.
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/jobs.js';
import { startTestService, submission, until } from '../support/service.js';
import { Webhook, type WebhookCall } from '../support/webhook.js';

const SECRET = "a secret with 'quotes' and 汉字";
const TEXT = readFileSync('docs/notifications.md', 'utf8');

let folder: ReturnType<typeof temporaryFolder>;
const webhook = new Webhook();
let call: WebhookCall;
let batchCall: WebhookCall;

beforeAll(async () => {
  folder = temporaryFolder('examples');
  await webhook.start();
  const service = await startTestService({ notify_targets: { erp: { url: webhook.url, secret: SECRET } } });
  const item = submission({ output: { kind: 'dir' }, notify: { target: 'erp' } });
  const notify = { target: 'erp', events: ['batch_completed'] };
  await service.call('/v1/batches', { method: 'POST', body: JSON.stringify({ items: [item], notify }) });
  await until(
    async () => webhook.calls.length,
    (count) => count === 2,
  );
  await service.close();
  const isOfBatch = ({ headers }: WebhookCall): boolean => headers['x-ofd-event'] === 'batch_completed';
  call = webhook.calls.find((one) => !isOfBatch(one))!;
  batchCall = webhook.calls.find(isOfBatch)!;
  writeFileSync(join(folder.path, 'body.json'), call.body);
});
afterAll(async () => {
  await webhook.stop();
  folder.remove();
});

function blocks(language: string): string[] {
  return [...TEXT.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((match) => match[1]!);
}

/** What a genuine call, and three that are not, are called with: time, signature, body. */
function cases(): (readonly [string, string, string])[] {
  const timestamp = String(call.headers['x-ofd-timestamp']);
  const signature = String(call.headers['x-ofd-signature']);
  return [
    [timestamp, signature, call.body],
    [timestamp, signature, `${call.body} `],
    [String(Number(timestamp) + 1), signature, call.body],
    [timestamp, `${signature.slice(0, -1)}${signature.endsWith('0') ? '1' : '0'}`, call.body],
    [timestamp, '', call.body],
  ];
}

const EXPECTED = 'true false false false false';
const run = async (program: string, args: string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { cwd: folder.path })).stdout.trim();
const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
const isInstalled = (program: string, argument: string): boolean => spawnSync(program, [argument]).status === 0;

it('show the fields that are sent', () => {
  const [job, batch] = blocks('json').map((text) => JSON.parse(text) as Record<string, unknown>);
  const real = JSON.parse(call.body) as Record<string, unknown>;
  expect(Object.keys(job!)).toEqual(Object.keys(real));
  expect(Object.keys(job!.output as object)).toEqual(Object.keys(real.output as object));
  expect(Object.keys(batch!)).toEqual(Object.keys(JSON.parse(batchCall.body) as object));
  for (const name of Object.keys(call.headers).filter((header) => header.startsWith('x-ofd-'))) {
    expect(TEXT.toLowerCase()).toContain(`\n${name}: `);
  }
});

it('tell genuine calls from others in Python', async () => {
  write('example.py', blocks('python')[0]!);
  write('cases.json', JSON.stringify({ secret: SECRET, cases: cases() }));
  const program = `
import json, example
data = json.load(open("cases.json", encoding="utf-8"))
print(*[str(example.is_genuine(data["secret"], t, s, b.encode())).lower() for t, s, b in data["cases"]])`;
  expect(await run('python3', ['-c', program])).toBe(EXPECTED);
});

it('tell genuine calls from others in Node.js', async () => {
  write('example.mjs', blocks('js')[0]!);
  const { isGenuine } = (await import(join(folder.path, 'example.mjs'))) as {
    isGenuine(secret: string, timestamp: string, signature: string, body: Buffer, tolerance?: number): boolean;
  };
  const results = cases().map(([time, signature, body]) => isGenuine(SECRET, time, signature, Buffer.from(body)));
  expect(results.join(' ')).toBe(EXPECTED);
  const [[time, signature, body]] = cases() as [[string, string, string]];
  expect(isGenuine(SECRET, time, signature, Buffer.from(body), -1)).toBe(false);
});

it('give the signature by openssl, and a call that is genuine', async () => {
  const [check, send] = blocks('sh') as [string, string];
  const environment = {
    ...process.env,
    SECRET,
    TIMESTAMP: String(call.headers['x-ofd-timestamp']),
    RECEIVER: webhook.url,
  };
  const shell = async (script: string): Promise<string> => {
    const options = { cwd: folder.path, env: environment };
    return (await promisify(execFile)('bash', ['-eu', '-o', 'pipefail', '-c', script], options)).stdout.trim();
  };
  expect(await shell(check)).toBe(call.headers['x-ofd-signature']);
  await shell(send);
  const sent = webhook.calls.at(-1)!;
  expect(sent).toMatchObject({ id: 'test:succeeded', body: call.body });
  write('sent.py', blocks('python')[0]!);
  write(
    'sent.json',
    JSON.stringify([SECRET, sent.headers['x-ofd-timestamp'], sent.headers['x-ofd-signature'], sent.body]),
  );
  const program = `
import json, sent
secret, timestamp, signature, body = json.load(open("sent.json", encoding="utf-8"))
print(sent.is_genuine(secret, timestamp, signature, body.encode()))`;
  expect(await run('python3', ['-c', program])).toBe('True');
});

it('tell genuine calls from others in Java and Go, where a compiler is there', { timeout: 120_000 }, async () => {
  const names = cases().map((_, index) => `case-${index}`);
  for (const [index, [timestamp, signature, body]] of cases().entries()) {
    write(`case-${index}`, body);
    write(`case-${index}.time`, timestamp);
    write(`case-${index}.signature`, signature);
  }
  write('secret', SECRET);
  if (isInstalled('javac', '-version')) {
    write('Notifications.java', blocks('java')[0]!);
    write(
      'Main.java',
      `import java.nio.file.*;
public class Main {
  public static void main(String[] names) throws Exception {
    for (String name : names) {
      System.out.print(Notifications.isGenuine(Files.readString(Path.of("secret")), Files.readString(Path.of(name + ".time")),
          Files.readString(Path.of(name + ".signature")), Files.readAllBytes(Path.of(name))) + " ");
    }
  }
}`,
    );
    await run('javac', ['-encoding', 'UTF-8', 'Notifications.java', 'Main.java']);
    expect(await run('java', ['-Dfile.encoding=UTF-8', 'Main', ...names])).toBe(EXPECTED);
  }
  if (isInstalled('go', 'version')) {
    write('go.mod', 'module notifications\n\ngo 1.19\n');
    write('example.go', blocks('go')[0]!);
    write(
      'example_test.go',
      `package notifications
import ("os"; "testing"; "fmt")
func text(name string) string { bytes, err := os.ReadFile(name); if err != nil { panic(err) }; return string(bytes) }
func TestCases(t *testing.T) {
	found := ""
	for index := 0; index < ${names.length}; index++ {
		name := fmt.Sprintf("case-%d", index)
		found += fmt.Sprintf("%v ", IsGenuine(text("secret"), text(name+".time"), text(name+".signature"), []byte(text(name))))
	}
	if found != "${EXPECTED} " { t.Fatal(found) }
}`,
    );
    expect(await run('go', ['test', './...'])).toMatch(/^ok/);
  }
});
