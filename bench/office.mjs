// Office documents by LibreOffice: docx a minute with one and two workers, the first one and those after it, and the
// memory that each process takes.
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';
import { findSoffice, LibreOfficeEngine } from '../dist/convert/engines/libreoffice.js';
import { OutputFiles } from '../dist/convert/output-files.js';

const PARAGRAPHS = 120;
const DOCUMENTS = 8;
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/** Some pages of Chinese text in four fonts. */
async function writeDocument(path) {
  const fonts = ['宋体', '黑体', '楷体', 'Times New Roman'];
  const paragraph = (_value, index) => {
    const font = fonts[index % fonts.length];
    return `<w:p><w:r><w:rPr><w:rFonts w:ascii="${font}" w:hAnsi="${font}" w:eastAsia="${font}"/></w:rPr><w:t>${index}. ${'年度报告与财务摘要 annual report，'.repeat(6)}</w:t></w:r></w:p>`;
  };
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${Array.from({ length: PARAGRAPHS }, paragraph).join('')}</w:body></w:document>`,
  };
  const archive = new ZipArchive({});
  const written = pipeline(archive, createWriteStream(path));
  for (const [name, text] of Object.entries(parts)) archive.append(text, { name });
  await archive.finalize();
  await written;
}

/** One conversion: seconds, pages, MiB of its processes at most. */
async function convert(engine, input, folder, number) {
  const scratch = join(folder, `scratch-${number}`);
  const products = join(folder, `products-${number}`);
  for (const path of [scratch, products]) mkdirSync(path);
  const printed = [];
  const output = new OutputFiles(products, { document: () => 'output.pdf', page: () => 'page' });
  const started = performance.now();
  const { pages } = await engine.convert({
    inputPath: input,
    from: 'docx',
    to: 'pdf',
    options: {},
    pagesField: 'pages',
    output,
    scratchDirectory: scratch,
    signal: new AbortController().signal,
    log: (bytes) => printed.push(bytes),
    onOpened: () => undefined,
    onProgress: () => undefined,
    onAlive: () => undefined,
  });
  await output.finish();
  const seconds = (performance.now() - started) / 1000;
  for (const path of [scratch, products]) rmSync(path, { recursive: true });
  return { seconds, pages, memoryMb: Number(/(\d+) MiB at most/.exec(Buffer.concat(printed).toString())?.[1]) };
}

/** Converts the document again and again, so many at a time. Gives documents a minute and the largest memory. */
async function throughput(engine, input, folder, workers) {
  let next = 0;
  const memory = [];
  const started = performance.now();
  const worker = async () => {
    while (next < DOCUMENTS) memory.push((await convert(engine, input, folder, `${workers}-${next++}`)).memoryMb);
  };
  await Promise.all(Array.from({ length: workers }, worker));
  const minutes = (performance.now() - started) / 60_000;
  return { perMinute: DOCUMENTS / minutes, memoryMb: Math.max(...memory) };
}

export async function measureOffice(folder) {
  const sofficePath = findSoffice('');
  if (!sofficePath) {
    console.log('office: LibreOffice is not there');
    return;
  }
  const profileRoot = join(folder, 'profiles');
  mkdirSync(profileRoot);
  const input = join(folder, 'input.docx');
  await writeDocument(input);
  const engine = new LibreOfficeEngine({ sofficePath, profileRoot, fontDirs: [] });
  try {
    const cold = await convert(engine, input, folder, 'cold');
    const warm = await convert(engine, input, folder, 'warm');
    console.log(
      `docx of ${cold.pages} pages to pdf: first ${cold.seconds.toFixed(2)} s, next ${warm.seconds.toFixed(2)} s, ${warm.memoryMb} MiB`,
    );
    for (const workers of [1, 2]) {
      const { perMinute, memoryMb } = await throughput(engine, input, folder, workers);
      console.log(
        `${workers} ${workers === 1 ? 'worker' : 'workers'}: ${perMinute.toFixed(0)} documents a minute, ${memoryMb} MiB each`,
      );
    }
  } finally {
    await engine.close();
  }
}
