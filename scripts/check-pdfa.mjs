// `make check-pdfa CORPUS=DIR VERAPDF=PROGRAM`: PDFs of all files of a corpus (DIR/ofd/*.ofd) and of all cases, judged by
// a validator. `PROGRAM FLAVOUR FILE…` prints a line for each file, "FILE: ok" or the rules that it breaks; flavours are 2b
// and 3b. A file that says nothing of PDF/A has to say why in its warnings.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const [corpus, validator] = process.argv.slice(2);
const AT_ONCE = 2;

function inputs() {
  const cases = join(root, 'test/cases');
  return [
    ...readdirSync(join(corpus, 'ofd')).map((name) => join(corpus, 'ofd', name)),
    ...readdirSync(cases).map((name) => join(cases, name, 'input.ofd')),
  ].filter((path) => path.endsWith('.ofd') && existsSync(path));
}

function nameOf(input) {
  const name = basename(input, '.ofd');
  return name === 'input' ? basename(join(input, '..')) : name;
}

/** The PDF's path and why it is no PDF/A; undefined for what is refused. */
async function convert(input, folder) {
  const output = join(folder, `${nameOf(input)}.pdf`);
  const args = [join(root, 'dist/main.js'), 'convert', input, '-o', output, '--json'];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 26 }).catch((error) => error);
  const result = JSON.parse(stdout.trim().split('\n').at(-1));
  if (!result.ok) return undefined;
  const obstacles = result.warnings.filter(({ code }) => code === 'pdfa_not_reached').map(({ message }) => message);
  const part = /pdfaid:part="(\d)"/.exec(readFileSync(output, 'latin1'))?.[1];
  return { output, obstacles, part };
}

async function convertAll(folder) {
  const waiting = inputs();
  const results = [];
  const work = async () => {
    for (let input = waiting.shift(); input; input = waiting.shift()) results.push(await convert(input, folder));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results.filter((result) => result !== undefined);
}

async function verdicts(part, files) {
  if (files.length === 0) return [];
  const { stdout } = await run(validator, [`${part}b`, ...files], { maxBuffer: 1 << 26 }).catch((error) => {
    if (!error.stdout) throw error;
    return error;
  });
  return stdout.trim().split('\n');
}

const folder = mkdtempSync(join(tmpdir(), 'ofd-server-pdfa-'));
try {
  const results = await convertAll(folder);
  let faults = 0;
  for (const part of ['2', '3']) {
    const files = results.filter((result) => result.part === part).map(({ output }) => output);
    const broken = (await verdicts(part, files)).filter((line) => !line.endsWith(': ok'));
    console.log(`PDF/A-${part}b: ${files.length} files, ${broken.length} of them break a rule`);
    for (const line of broken) console.log(`  ${line}`);
    faults += broken.length;
  }
  const plain = results.filter(({ part }) => part === undefined);
  console.log(`plain PDF: ${plain.length} files`);
  for (const { output, obstacles } of plain) {
    console.log(`  ${basename(output)}: ${obstacles.join('; ') || 'nobody says why'}`);
    if (obstacles.length === 0) faults += 1;
  }
  process.exitCode = faults > 0 ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
