// `make run`: the service on its defaults, with data/ beside package.json: a key made once, a database, products, and,
// where the machine has no face with Chinese characters, one from npm.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemFontBook } from '../dist/fonts/system.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const data = join(root, 'data');
const listen = process.env.OFD_SERVER_LISTEN ?? '127.0.0.1:9705';

function apiKey() {
  const file = join(data, 'api-key');
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

function hasChineseFace() {
  const request = { fontName: 'SimSun', bold: false, italic: false, serif: true, fixedWidth: false, weight: 400 };
  return systemFontBook([]).resolve(request).glyphFor('国'.codePointAt(0)) !== undefined;
}

/** What works from outside alone, as in the image (docs/operation.md, Volumes). */
const PROCESS_VARIABLES = {
  UV_THREADPOOL_SIZE: '16',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '262144',
  MALLOC_TRIM_THRESHOLD_: '1048576',
};

/** Whole static faces under OFL-1.1; only two weights of the package are kept. */
const FONT_PACKAGE = '@expo-google-fonts/noto-serif-sc@0.4.3';
const FONT_FILES = /NotoSerifSC_(400Regular|700Bold)\.ttf$/;

function fetchChineseFace() {
  const fonts = join(data, 'fonts');
  mkdirSync(fonts, { recursive: true });
  console.log(`This machine has no Chinese face: fetching ${FONT_PACKAGE} into data/fonts (68 MB, once) …`);
  const work = mkdtempSync(join(data, 'fetch-'));
  try {
    must('npm', ['pack', '--silent', '--pack-destination', work, FONT_PACKAGE]);
    must('tar', ['-xzf', join(work, readdirSync(work)[0]), '-C', work]);
    for (const entry of readdirSync(join(work, 'package'), { recursive: true })) {
      if (FONT_FILES.test(entry)) renameSync(join(work, 'package', entry), join(fonts, entry.split('/').at(-1)));
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  if (readdirSync(fonts).length === 0) throw new Error(`${FONT_PACKAGE} holds no face named as expected`);
}

function must(command, args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? `exit ${status}`}`);
}

function configuration(key) {
  const file = join(data, 'config.json');
  writeFileSync(
    file,
    `${JSON.stringify({ listen, db_path: join(data, 'jobs.db'), temp_dir: join(data, 'tmp'), output_dir: join(data, 'out'), ui: true }, null, 2)}\n`,
  );
  return { file, environment: { ...PROCESS_VARIABLES, ...process.env, OFD_SERVER_API_KEY: key } };
}

const port = listen.split(':').at(-1);
const host = listen.startsWith(':') ? '127.0.0.1' : listen.slice(0, listen.lastIndexOf(':'));

/** Never returns where the service ends instead: its exit ends this program too. */
async function untilReady() {
  for (;;) {
    const answer = await fetch(`http://${host}:${port}/readyz`).catch(() => undefined);
    if (answer?.ok && child.exitCode === null) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function printCurlLine(key) {
  console.log(`
The service listens on http://${host}:${port}; its key is ${key} (kept in data/api-key).
Open http://${host}:${port}/#key=${key} in a browser, or
paste this into another terminal, in this folder, for a PDF of the example invoice:

  base64 -w0 examples/invoice.ofd | sed 's|.*|{"input":{"file_name":"invoice.ofd","bytes":"&"},"output":{"format":"pdf"}}|' | \\
    curl -sS -H "Authorization: Bearer ${key}" --data-binary @- http://${host}:${port}/v1/convert -o invoice.pdf
`);
}

mkdirSync(data, { recursive: true });
const key = apiKey();
if (!hasChineseFace()) fetchChineseFace();
const { file, environment } = configuration(key);
// In a group of its own: the terminal's Ctrl-C reaches it once, from here, and not twice.
const child = spawn(process.execPath, [join(root, 'dist/main.js'), '-c', file], {
  stdio: 'inherit',
  env: environment,
  detached: true,
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 130 : 1)));
await untilReady();
printCurlLine(key);
