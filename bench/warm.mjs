// warm.mjs N IN FOLDER: converts IN to PDF N times in this process, one time in ms a line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { convertOfd } from '../dist/convert/engines/ofd.js';
import { OutputFiles } from '../dist/convert/output-files.js';
import { systemFontBook } from '../dist/fonts/system.js';

const [count, input, folder] = process.argv.slice(2);
const fonts = systemFontBook([]);
for (let run = 0; run < Number(count); run++) {
  const directory = mkdtempSync(join(folder, 'warm-'));
  const started = performance.now();
  const output = new OutputFiles(directory, { document: () => 'out.pdf', page: () => 'page' });
  await convertOfd({ input: readFileSync(input), to: 'pdf', options: {}, output, fonts });
  await output.finish();
  console.log((performance.now() - started).toFixed(2));
  rmSync(directory, { recursive: true });
}
