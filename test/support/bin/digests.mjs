// `digests.mjs FILE...`: every file in every format, in this process; prints one line a product, with its digest.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = new URL('../../../dist/', import.meta.url);
const load = (name) => import(fileURLToPath(new URL(name, dist)));
const { convertOfd } = await load('convert/engines/ofd.js');
const { documentName, OutputFiles, pageName } = await load('convert/output-files.js');
const { systemFontBook } = await load('fonts/system.js');

const FORMATS = ['pdf', 'html', 'json', 'svg', 'png', 'jpeg', 'webp', 'txt', 'md'];
const work = mkdtempSync(join(tmpdir(), 'digests-'));
const fonts = systemFontBook([]);
for (const path of process.argv.slice(2)) {
  for (const to of FORMATS) {
    const directory = join(work, `${basename(path)}.${to}`);
    mkdirSync(directory);
    const output = new OutputFiles(directory, {
      document: () => documentName(undefined, to),
      page: (pageNumber) => pageName(undefined, pageNumber, to),
    });
    const { warnings } = await convertOfd({ input: readFileSync(path), to, options: {}, output, fonts });
    for (const { name, sha256 } of await output.finish()) console.log(basename(path), to, name, sha256);
    console.log(basename(path), to, JSON.stringify(warnings));
  }
}
rmSync(work, { recursive: true });
console.log(new Date().toISOString(), process.getuid(), new Date(0).getHours());
