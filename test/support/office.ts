/** Small real office documents, made of their parts, and what tests ask of a conversion to PDF. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Engine, EngineResult, EngineRun } from '../../src/convert/engines/engine.js';
import { OutputFiles } from '../../src/convert/output-files.js';
import { systemFontBook } from '../../src/fonts/system.js';
import type { FormatId } from '../../src/formats.js';
import { FORMATS, formatOfFileName } from '../../src/formats.js';
import { writeZip } from './zip-writer.js';

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const MEDIA = 'application/vnd.openxmlformats-officedocument';
const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006';

export type Parts = Readonly<Record<string, string | Uint8Array>>;

export function zipOf(parts: Parts): Buffer {
  const files = Object.entries(parts).map(([name, content]) => ({ name, content, flags: 0x800 }));
  return Buffer.from(writeZip(files.map((file) => (file.name === 'mimetype' ? { ...file, method: 'stored' } : file))));
}

function contentTypes(overrides: Readonly<Record<string, string>>): string {
  const lines = Object.entries(overrides).map(
    ([part, type]) => `<Override PartName="/${part}" ContentType="${type}"/>`,
  );
  return `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${lines.join('')}</Types>`;
}

export function relationships(...lines: string[]): string {
  return `${XML}<Relationships xmlns="${PACKAGE}/relationships">${lines.join('')}</Relationships>`;
}

/** @param type the last word of the type's name */
export function relationship(id: string, type: string, target: string, isExternal = false): string {
  return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target}"${isExternal ? ' TargetMode="External"' : ''}/>`;
}

export interface Paragraph {
  readonly text: string;
  readonly font?: string;
}

export function paragraphXml({ text, font }: Paragraph): string {
  const look = font ? `<w:rPr><w:rFonts w:ascii="${font}" w:hAnsi="${font}" w:eastAsia="${font}"/></w:rPr>` : '';
  return `<w:p><w:r>${look}<w:t>${text}</w:t></w:r></w:p>`;
}

/**
 * @param body paragraphs as XML
 * @param links relationships of the document
 * @param parts other parts
 */
export function docx(body: string, links: readonly string[] = [], parts: Parts = {}): Buffer {
  return zipOf({
    '[Content_Types].xml': contentTypes({ 'word/document.xml': `${MEDIA}.wordprocessingml.document.main+xml` }),
    '_rels/.rels': relationships(relationship('r1', 'officeDocument', 'word/document.xml')),
    'word/_rels/document.xml.rels': relationships(...links),
    'word/document.xml': `${XML}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${OFFICE}" xmlns:wp="${DRAWING}/wordprocessingDrawing" xmlns:a="${DRAWING}/main" xmlns:pic="${DRAWING}/picture"><w:body>${body}</w:body></w:document>`,
    ...parts,
  });
}

export function textDocx(...paragraphs: readonly (string | Paragraph)[]): Buffer {
  return docx(paragraphs.map((entry) => paragraphXml(typeof entry === 'string' ? { text: entry } : entry)).join(''));
}

/** One sheet of texts. */
export function xlsx(rows: readonly (readonly string[])[]): Buffer {
  const cells = rows.map(
    (row) => `<row>${row.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`,
  );
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  return zipOf({
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': `${MEDIA}.spreadsheetml.sheet.main+xml`,
      'xl/worksheets/sheet1.xml': `${MEDIA}.spreadsheetml.worksheet+xml`,
    }),
    '_rels/.rels': relationships(relationship('r1', 'officeDocument', 'xl/workbook.xml')),
    'xl/_rels/workbook.xml.rels': relationships(relationship('r1', 'worksheet', 'worksheets/sheet1.xml')),
    'xl/workbook.xml': `${XML}<workbook xmlns="${main}" xmlns:r="${OFFICE}"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/worksheets/sheet1.xml': `${XML}<worksheet xmlns="${main}"><sheetData>${cells.join('')}</sheetData></worksheet>`,
  });
}

/** A slide for each text. */
export function pptx(...texts: readonly string[]): Buffer {
  const space = `xmlns:a="${DRAWING}/main" xmlns:r="${OFFICE}" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"`;
  const group = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>';
  const shape = (text: string): string =>
    `<p:sp><p:nvSpPr><p:cNvPr id="2" name="t"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="600000" y="600000"/><a:ext cx="7000000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr><p:txBody><a:bodyPr/><a:p><a:r><a:rPr lang="zh-CN" sz="2800"/><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const slides = Object.fromEntries(
    texts.map((text, index) => [
      `ppt/slides/slide${index + 1}.xml`,
      `${XML}<p:sld ${space}><p:cSld><p:spTree>${group}${shape(text)}</p:spTree></p:cSld></p:sld>`,
    ]),
  );
  const names = Object.keys(slides);
  return zipOf({
    '[Content_Types].xml': contentTypes({
      'ppt/presentation.xml': `${MEDIA}.presentationml.presentation.main+xml`,
      ...Object.fromEntries(names.map((name) => [name, `${MEDIA}.presentationml.slide+xml`])),
    }),
    '_rels/.rels': relationships(relationship('r1', 'officeDocument', 'ppt/presentation.xml')),
    'ppt/_rels/presentation.xml.rels': relationships(
      ...names.map((name, index) => relationship(`s${index}`, 'slide', name.replace('ppt/', ''))),
    ),
    'ppt/presentation.xml': `${XML}<p:presentation ${space}><p:sldIdLst>${names.map((_name, index) => `<p:sldId id="${256 + index}" r:id="s${index}"/>`).join('')}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
    ...slides,
  });
}

const OASIS = 'urn:oasis:names:tc:opendocument:xmlns';
export const OPEN_DOCUMENT_SPACES = [
  ...['office', 'text', 'table', 'style'].map((name) => `xmlns:${name}="${OASIS}:${name}:1.0"`),
  `xmlns:draw="${OASIS}:drawing:1.0" xmlns:svg="${OASIS}:svg-compatible:1.0" xmlns:presentation="${OASIS}:presentation:1.0"`,
  'xmlns:xlink="http://www.w3.org/1999/xlink"',
].join(' ');

/**
 * @param body what stands in office:body
 * @param parts other parts, pictures for example
 */
export function openDocument(kind: 'text' | 'spreadsheet' | 'presentation', body: string, parts: Parts = {}): Buffer {
  const type = `application/vnd.oasis.opendocument.${kind}`;
  const listed = Object.keys(parts).map(
    (name) => `<manifest:file-entry manifest:full-path="${name}" manifest:media-type=""/>`,
  );
  return zipOf({
    mimetype: type,
    'content.xml': `${XML}<office:document-content ${OPEN_DOCUMENT_SPACES} office:version="1.2"><office:body>${body}</office:body></office:document-content>`,
    'META-INF/manifest.xml': `${XML}<manifest:manifest xmlns:manifest="${OASIS}:manifest:1.0" manifest:version="1.2"><manifest:file-entry manifest:full-path="/" manifest:media-type="${type}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>${listed.join('')}</manifest:manifest>`,
    ...parts,
  });
}

export function odt(body: string, parts: Parts = {}): Buffer {
  return openDocument('text', `<office:text>${body}</office:text>`, parts);
}

export interface Made extends EngineResult {
  readonly path: string;
  readonly log: string;
  readonly opened: readonly FormatId[];
  /** Signs of life that were given. */
  readonly alive: number;
}

let count = 0;

/** Writes `bytes` under `name` into a new folder of `folder` and converts it; what lies there afterwards is the caller's to look at. */
export async function convertBytes(
  engine: Engine,
  folder: string,
  name: string,
  bytes: string | Uint8Array,
  changes: Partial<EngineRun> = {},
): Promise<Made> {
  const work = join(folder, `run-${++count}`);
  const scratchDirectory = join(work, 'scratch');
  const products = join(work, 'products');
  for (const path of [work, scratchDirectory, products]) mkdirSync(path, { mode: 0o700 });
  const from = formatOfFileName(name);
  if (!from) throw new Error(`${name} has no known extension`);
  const inputPath = join(work, `input.${FORMATS[from].extensions[0]}`);
  writeFileSync(inputPath, bytes);
  const output = new OutputFiles(products, { document: () => 'output.pdf', page: () => 'page' });
  const pieces: Uint8Array[] = [];
  const opened: FormatId[] = [];
  let alive = 0;
  const result = await engine.convert({
    inputPath,
    from,
    to: 'pdf',
    options: {},
    pagesField: 'pages',
    output,
    scratchDirectory,
    fonts: systemFontBook([]),
    signal: new AbortController().signal,
    log: (piece) => pieces.push(piece),
    onOpened: (format) => opened.push(format),
    onProgress: () => undefined,
    onAlive: () => alive++,
    ...changes,
  });
  const [file] = await output.finish();
  if (!file) throw new Error(`${basename(name)}: there is no product`);
  return { ...result, path: file.path, log: Buffer.concat(pieces).toString(), opened, alive };
}

/** The words of a PDF, by poppler. */
export function pdfText(path: string): string {
  return execFileSync('pdftotext', ['-layout', path, '-'], { encoding: 'utf8' });
}

/** Names of the fonts that a PDF embeds, without the tags of subsets. */
export function pdfFonts(path: string): string[] {
  const lines = execFileSync('pdffonts', [path], { encoding: 'utf8' }).trim().split('\n').slice(2);
  return lines.map((line) => line.split(' ')[0]?.replace(/^[A-Z]{6}\+/, '') ?? '');
}

/** Sizes of the images in a PDF, such as 40x30. */
export function pdfImages(path: string): string[] {
  const lines = execFileSync('pdfimages', ['-list', path], { encoding: 'utf8' }).trim().split('\n').slice(2);
  return lines.map((line) => line.trim().split(/\s+/).slice(3, 5).join('x'));
}

export function pdfImageCount(path: string): number {
  return pdfImages(path).length;
}
