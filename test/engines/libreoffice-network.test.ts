// LibreOffice fetches nothing while it converts (contract U2), and takes no file of this machine into a document. The
// walls of the kernel are left out here: what is tested is what holds where they are not allowed. Without the engine's
// own walls LibreOffice does all of it, which is shown too.
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findSoffice, LibreOfficeEngine } from '../../src/convert/engines/libreoffice.js';
import { withoutExternal } from '../../src/convert/office/external.js';
import { findIsolation } from '../../src/convert/processes/isolation.js';
import { makePng } from '../images/make-images.js';
import { temporaryFolder } from '../support/jobs.js';
import {
  convertBytes,
  docx,
  OPEN_DOCUMENT_SPACES,
  odt,
  openDocument,
  paragraphXml,
  pdfImages,
  pdfText,
  pptx,
  relationship,
} from '../support/office.js';

const SOFFICE = findSoffice('') as string;
const SECRET = 'a secret of this machine';
const PICTURE = makePng({
  width: 40,
  height: 30,
  colorType: 0,
  bitDepth: 8,
  rows: Array.from({ length: 30 }, () => new Uint8Array(40)),
});

let folder: { path: string; remove(): void };
let canary: Server;
let hits: string[];
let engine: LibreOfficeEngine;
let web: string;
let file: string;

beforeAll(async () => {
  folder = temporaryFolder('libreoffice-network');
  writeFileSync(join(folder.path, 'secret.png'), PICTURE);
  writeFileSync(join(folder.path, 'secret.txt'), SECRET);
  hits = [];
  canary = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`);
    response.end();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  web = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
  file = `file://${folder.path}`;
  const profileRoot = join(folder.path, 'profiles');
  mkdirSync(profileRoot);
  engine = new LibreOfficeEngine({
    sofficePath: SOFFICE,
    profileRoot,
    fontDirs: [],
    isolation: { prefix: [], hasNoNetwork: false, hasOwnProcesses: false },
  });
});
afterAll(async () => {
  await engine.close();
  canary.close();
  folder.remove();
});

const linkedPicture = (id: string): string =>
  `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="0" name="x"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;

const field = (instruction: string): string =>
  `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>${instruction}</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>field</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`;

const frame = (target: string): string =>
  `<draw:frame svg:width="2cm" svg:height="2cm" text:anchor-type="as-char"><draw:image xlink:href="${target}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>`;

const textBody = (): string =>
  `<office:text><text:p>words${frame(`${web}/text.png`)}${frame(`${file}/secret.png`)}</text:p>
   <text:section text:name="a"><text:section-source xlink:href="${file}/secret.txt" xlink:type="simple" text:filter-name="Text"/><text:p>section</text:p></text:section>
   <text:section text:name="b"><text:section-source xlink:href="${web}/section.odt" xlink:type="simple"/><text:p>section</text:p></text:section></office:text>`;

const sheetSource = (target: string): string =>
  `<table:table-source xlink:href="${target}" xlink:type="simple" table:filter-name="Text - txt - csv (StarCalc)" table:mode="copy-all"/>`;

const cell = (formula: string): string =>
  `<table:table-cell table:formula="of:=${formula.replace(/"/g, '&quot;')}" office:value-type="string"><text:p>old</text:p></table:table-cell>`;

/** A picture that asks for two others. */
const svg = (target = `${file}/secret.png`): string =>
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="90" height="90"><rect width="50" height="50" fill="blue"/><image width="60" height="60" xlink:href="${target}"/><image x="30" width="60" height="60" href="${web}/svg.png"/></svg>`;

const slideOf = (pictures: string): string =>
  `<office:presentation><draw:page draw:name="p"><draw:frame svg:x="1cm" svg:y="1cm" svg:width="9cm" svg:height="2cm"><draw:text-box><text:p>words</text:p></draw:text-box></draw:frame>${pictures}</draw:page></office:presentation>`;

const rtfField = (instruction: string): string =>
  `{\\rtf1\\ansi words {\\field{\\*\\fldinst ${instruction}}{\\fldrslt x}}\\par}`;

/** A slide whose content is written by hand. */
const slideWith = (content: string | Uint8Array): Uint8Array =>
  openDocument('presentation', slideOf(''), { 'content.xml': content });

const contentOf = (start: string, pictures: string): string =>
  `${start}<office:document-content ${OPEN_DOCUMENT_SPACES} office:version="1.2"><office:body>${slideOf(pictures)}</office:body></office:document-content>`;

/** A picture whose document type gives it what it asks for. */
const svgOfType = (type: string, body: string): string =>
  `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/1999/xlink">${type}]><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="&ns;" width="90" height="90"><rect width="50" height="50" fill="blue"/>${body}</svg>`;

const utf32 = (text: string): Buffer => Buffer.from([...text].flatMap((letter) => [0, 0, 0, letter.charCodeAt(0)]));

/** With a document in it, whose picture asks for one of this machine. */
const outerDocx = (): Buffer => {
  const inner = docx(
    `${paragraphXml({ text: 'words' })}<w:p><w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml" id="a" style="width:50pt;height:50pt"><v:imagedata r:id="v"/></v:shape></w:pict></w:r></w:p>`,
    [relationship('v', 'image', 'media/a.svg')],
    { 'word/media/a.svg': svg() },
  );
  const links = [relationship('chunk', 'aFChunk', 'embeddings/a.docx')];
  return docx('<w:altChunk r:id="chunk"/><w:p/>', links, { 'word/embeddings/a.docx': inner });
};

/**
 * The end record names the directory of the first archive; that of the second one stands before the end record, where
 * LibreOffice looks for it.
 */
function twoDirectories(shown: Buffer, hidden: Buffer): Buffer {
  const [shownAt, hiddenAt] = [shown, hidden].map((zip) => zip.readUInt32LE(zip.length - 6)) as [number, number];
  const directory = Buffer.from(hidden.subarray(hiddenAt, -22));
  for (let at = 0; at < directory.length; ) {
    directory.writeUInt32LE(directory.readUInt32LE(at + 42) + shownAt - hiddenAt, at + 42);
    at += 46 + directory.readUInt16LE(at + 28) + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  const end = Buffer.from(hidden.subarray(-22));
  end.writeUInt32LE(shownAt, 16);
  return Buffer.concat([shown.subarray(0, -22), hidden.subarray(0, hiddenAt), directory, end]);
}

const DOCUMENTS: Readonly<Record<string, () => string | Uint8Array>> = {
  'words.docx': () =>
    docx(
      [
        paragraphXml({ text: 'words' }),
        linkedPicture('web'),
        linkedPicture('file'),
        field(`INCLUDEPICTURE "${web}/field.png" \\d`),
        field(`INCLUDETEXT "${file}/secret.txt"`),
        '<w:altChunk r:id="chunk"/>',
      ].join(''),
      [
        relationship('web', 'image', `${web}/picture.png`, true),
        relationship('file', 'image', `${file}/secret.png`, true),
        relationship('template', 'attachedTemplate', `${web}/template.dotx`, true),
        relationship('chunk', 'aFChunk', `${file}/secret.txt`, true),
      ],
    ),
  'words.odt': () => odt(textBody().replace(/<\/?office:text>/g, '')),
  'words.rtf': () =>
    // Written as LibreOffice reads it, and in pieces.
    `{\\rtf1\\ansi{\\*\\template ${web}/template.dot}words {\\field{\\*\\fldinst INCLUDEPICTURE "${web}/field.png" \\\\d}{\\fldrslt x}}{\\field{\\*\\fldinst INCLUDEPICTURE "${file}/secret.png" \\\\d}{\\fldrslt x}}{\\field{\\*\\fldinst {INC}{\\b LUDE}\\'50ICTURE "${file}/secret.png" \\\\d}{\\fldrslt x}}{\\field{\\*\\fldinst INCLUDETEXT "${file}/secret.txt"}{\\fldrslt x}}\\par}`,
  'words.ods': () =>
    openDocument(
      'spreadsheet',
      `<office:spreadsheet><table:table table:name="A"><table:table-row>${cell('"words"')}${cell(`WEBSERVICE("${web}/service")`)}${cell(`WEBSERVICE("${file}/secret.txt")`)}${cell(`'${file}/secret.txt'#$Sheet1.A1`)}</table:table-row></table:table>
       <table:table table:name="B">${sheetSource(`${file}/secret.txt`)}<table:table-row><table:table-cell/></table:table-row></table:table>
       <table:table table:name="C">${sheetSource(`${web}/sheet.csv`)}<table:table-row><table:table-cell/></table:table-row></table:table></office:spreadsheet>`,
    ),
  'words.odp': () =>
    openDocument('presentation', slideOf(`${frame(`${web}/slide.png`)}${frame(`${file}/secret.png`)}`)),
  'words.pptx': () => pptx('words'),
  'svg.odt': () => odt(`<text:p>words${frame('Pictures/a.svg')}</text:p>`, { 'Pictures/a.svg': svg() }),
  'wide-svg.odt': () =>
    odt(`<text:p>words${frame('Pictures/a.png')}</text:p>`, {
      'Pictures/a.png': Buffer.from(`\ufeff${svg()}`, 'utf16le'),
    }),
  'packed-svg.odt': () =>
    odt(`<text:p>words${frame('Pictures/a.svgz')}</text:p>`, { 'Pictures/a.svgz': gzipSync(svg()) }),
  'data-svg.odt': () =>
    odt(`<text:p>words${frame('Pictures/a.svg')}</text:p>`, {
      'Pictures/a.svg': svg(`data:image/png;base64,${Buffer.from(svg()).toString('base64')}`),
    }),
  'binary.odt': () =>
    odt(
      `<text:p>words<draw:frame svg:width="2cm" svg:height="2cm" text:anchor-type="as-char"><draw:image><office:binary-data>${Buffer.from(svg()).toString('base64')}</office:binary-data></draw:image></draw:frame></text:p>`,
    ),
  'escaped.odt': () => odt(`<text:p>words${frame(`&#x66;ile&#58;//${folder.path}/secret.png`)}</text:p>`),
  'above.odp': () => openDocument('presentation', slideOf(frame('../../secret.png'))),
  'padded.rtf': () => rtfField(`${' '.repeat(6000)}INCLUDEPICTURE "${file}/secret.png" \\\\d`),
  'nested.rtf': () => rtfField(`{{INCLUDEPICTURE} "${file}/secret.png" \\\\d}`),
  'interrupted.rtf': () => rtfField(`{\\*\\x PAGE }INCL{\\*\\x y}UDEPICTURE "${file}/secret.png" \\\\d`),
  'typed.odp': () =>
    slideWith(
      contentOf(
        `<?xml version="1.0"?><!DOCTYPE office:document-content [<!ATTLIST draw:image xlink:href CDATA "${file}/secret.png">]>`,
        frame('').replace('xlink:href=""', ''),
      ),
    ),
  'typed-svg.odt': () =>
    odt(`<text:p>words${frame('Pictures/a.svg')}</text:p>`, {
      'Pictures/a.svg': svgOfType(
        `<!ATTLIST image xlink:href CDATA "${file}/secret.png">`,
        '<image width="60" height="60"/>',
      ),
    }),
  'entity-svg.odt': () =>
    odt(`<text:p>words${frame('Pictures/a.svg')}</text:p>`, {
      'Pictures/a.svg': svgOfType(
        `<!ENTITY p '<image width=&#34;60&#34; height=&#34;60&#34; xlink:href=&#34;${file}/secret.png&#34;/>'>`,
        '&p;',
      ),
    }),
  'chunk.docx': outerDocx,
  'prefix.odp': () =>
    slideWith(
      contentOf(
        '<?xml version="1.0"?>',
        frame(`${file}/secret.png`).replace(
          '<draw:image',
          '<a\u00e9:image xmlns:a\u00e9="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"',
        ),
      ),
    ),
  'decoy.odp': () =>
    slideWith(
      contentOf(
        '<?xml version="1.0"?>',
        frame(`${file}/secret.png`).replace('<draw:image', `<draw:image draw:x=' href="'`) +
          frame(`${file}/secret.png`).replace('<draw:image', `<draw:image draw:x="href='" draw:y="'"`),
      ),
    ),
  'zeros.odp': () => openDocument('presentation', slideOf(frame(`&#0000000000102;ile://${folder.path}/secret.png`))),
  'named-svg.odt': () =>
    odt(`<text:p>words${frame('Pictures/a.svg')}</text:p>`, {
      'Pictures/a.svg': svgOfType(
        `<!ENTITY constructor "${file}/secret.png"><!ENTITY \u00e9 "${file}/secret.png">`,
        '<image width="60" height="60" xlink:href="&constructor;"/><image width="60" height="60" xlink:href="&\u00e9;"/>',
      ),
    }),
  'picture.ods': () =>
    openDocument(
      'spreadsheet',
      `<office:spreadsheet><table:table table:name="words"><table:shapes>${frame(`${file}/secret.png`)}${frame(`${web}/table.png`)}</table:shapes><table:table-row><table:table-cell office:value-type="string"><text:p>words</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`,
    ),
};

const picturesOf = (data: string): Uint8Array =>
  odt(
    `<text:p>words<draw:frame svg:width="2cm" svg:height="2cm" text:anchor-type="as-char"><draw:image><office:binary-data>${data}</office:binary-data></draw:image></draw:frame></text:p>`,
  );

describe('nothing is fetched and nothing of this machine is taken', () => {
  it.each(Object.entries(DOCUMENTS))('%s', async (name, make) => {
    const made = await convertBytes(engine, folder.path, name, make());
    const text = pdfText(made.path);
    if (name !== 'words.ods') expect(text).toContain('words');
    expect(text).not.toContain(SECRET);
    expect(pdfImages(made.path)).not.toContain('40x30');
    expect(hits).toEqual([]);
    expect(made.warnings.every(({ code }) => code === 'resource_blocked')).toBe(true);
    if (name !== 'words.pptx') expect(made.warnings.length).toBeGreaterThan(0);
  });

  it('of an archive with two directories the parts that were looked through are shown', async () => {
    const shown = openDocument('presentation', slideOf(''), { 'large.bin': randomBytes(100_000) });
    const hidden = openDocument('presentation', slideOf(frame(`${file}/secret.png`)));
    const made = await convertBytes(engine, folder.path, 'two.odp', twoDirectories(shown, hidden));
    expect(pdfText(made.path)).toContain('words');
    expect(pdfImages(made.path)).toEqual([]);
  });

  it.each<[string, string, () => string | Uint8Array]>([
    ['UTF-32', 'words.odp', () => slideWith(utf32(contentOf('<?xml version="1.0"?>', frame(`${file}/secret.png`))))],
    [
      'UTF-7',
      'words.odp',
      () =>
        slideWith(
          contentOf(
            `<?xml version="1.0"${' '.repeat(300)} encoding="UTF-7"?>`,
            frame(`${file}/secret.png`).replace(/"/g, '+ACI-'),
          ),
        ),
    ],
    [
      'EBCDIC',
      'words.odp',
      () =>
        slideWith(
          execFileSync('iconv', ['-f', 'ASCII', '-t', 'IBM037'], {
            input: contentOf('<?xml version="1.0" encoding="IBM037"?>', frame(`${file}/secret.png`)),
          }),
        ),
    ],
    ['binary data in pieces', 'words.odt', () => picturesOf(`<![CDATA[${Buffer.from(svg()).toString('base64')}]]>`)],
    [
      'binary data without an end',
      'words.rtf',
      () => rtfField(`INCLUDEPICTURE "${file}/secret.png" \\\\d`).replace('words', 'words {\\*\\x\\bin9999999999 }'),
    ],
  ])('what cannot be looked through is refused: %s', async (_what, name, make) => {
    const converting = convertBytes(engine, folder.path, name, make());
    await expect(converting).rejects.toThrow(/cannot be looked through/);
  });

  it.each([
    ['a flat document', 'flat.odt'],
    ['a web page', 'page.docx'],
  ])('%s under another name is not even opened', async (_what, name) => {
    const bytes = name === 'flat.odt' ? flat() : page();
    await expect(convertBytes(engine, folder.path, name, bytes)).rejects.toMatchObject({ code: 'conversion_failed' });
    expect(hits).toEqual([]);
  });
});

const flat = (): string =>
  `<?xml version="1.0"?><office:document ${OPEN_DOCUMENT_SPACES} office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:body>${textBody()}</office:body></office:document>`;

const page = (): string => `<html><body>words<img src="${web}/page.png"><img src="${file}/secret.png"></body></html>`;

describe('LibreOffice by itself fetches, and takes pictures of this machine', () => {
  it.each([
    ['words.docx', () => DOCUMENTS['words.docx']?.(), 'fetches', 'takes'],
    ['words.odt', () => DOCUMENTS['words.odt']?.(), 'fetches', 'takes'],
    ['words.rtf', () => DOCUMENTS['words.rtf']?.(), '', 'takes'],
    ['svg.odt', () => DOCUMENTS['svg.odt']?.(), '', 'takes'],
    ['picture.ods', () => DOCUMENTS['picture.ods']?.(), 'fetches', 'takes'],
    ['flat.odt', flat, 'fetches', 'takes'],
    ['page.docx', page, 'fetches', ''],
  ] as const)('%s', async (name, make, fetches, takes) => {
    hits = [];
    const work = join(folder.path, `itself-${name}`);
    mkdirSync(work);
    writeFileSync(join(work, name), make() ?? '');
    const args = ['--headless', '--convert-to', 'pdf', '--outdir', work, join(work, name)];
    await new Promise((resolve) =>
      execFile(SOFFICE, [`-env:UserInstallation=file://${work}/profile`, ...args], resolve),
    );
    const pictures = pdfImages(join(work, name.replace(/\.\w+$/, '.pdf')));
    expect([hits.length > 0, pictures.includes('40x30')]).toEqual([fetches !== '', takes !== '']);
    hits = [];
  });
});

it('looking through takes time in proportion', () => {
  const startedAt = performance.now();
  for (const text of ['<binary-data ', 'letters', `x='y="`]) {
    withoutExternal(Buffer.from(`<x href="#a"/>${text.repeat(100_000)}`), () => undefined);
  }
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

it('where the kernel allows it, a program has no network at all', async () => {
  const { prefix, hasNoNetwork } = await findIsolation();
  const [command = '', ...args] = [
    ...prefix,
    process.execPath,
    '-e',
    `fetch('${web}').then(() => console.log('in'), () => console.log('out'))`,
  ];
  hits = [];
  const said = await new Promise<string>((resolve) => execFile(command, args, (_error, output) => resolve(output)));
  expect([said.trim(), hits.length]).toEqual(hasNoNetwork ? ['out', 0] : ['in', 1]);
});
