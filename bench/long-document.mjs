// A text document of any length for measurements: one template, `lines` lines of 40 Chinese characters on each page, all
// different; fonts are named, not embedded. The same arguments give the same bytes.
import { ZipArchive } from 'archiver';

const NS = 'xmlns:ofd="http://www.ofdspec.org/2016"';
const xml = (body) => `<?xml version="1.0" encoding="UTF-8"?>\n${body}`;

/** A small linear congruential generator: figures of two runs compare only when the documents are the same. */
function characterSource() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return String.fromCodePoint(0x4e00 + ((state >> 8) % 3000));
  };
}

/** Gives the package as a Buffer. */
export async function longDocument(pages, lines) {
  const archive = new ZipArchive({ zlib: { level: 6 } });
  const chunks = [];
  archive.on('data', (chunk) => chunks.push(chunk));
  const put = (name, body) => archive.append(xml(body), { name, date: new Date('2026-01-01T00:00:00Z') });
  let id = 100;
  const text = (x, y, size, content) =>
    `<ofd:TextObject ID="${id++}" Boundary="${x} ${y} 170 ${size}" Font="2" Size="${size}"><ofd:TextCode X="0" Y="${size}" DeltaX="g ${content.length - 1} ${size}">${content}</ofd:TextCode></ofd:TextObject>`;
  put(
    'OFD.xml',
    `<ofd:OFD ${NS} Version="1.0" DocType="OFD"><ofd:DocBody><ofd:DocInfo><ofd:DocID>1</ofd:DocID></ofd:DocInfo><ofd:DocRoot>D/Document.xml</ofd:DocRoot></ofd:DocBody></ofd:OFD>`,
  );
  put('D/Res.xml', `<ofd:Res ${NS} BaseLoc="."><ofd:Fonts><ofd:Font ID="2" FontName="宋体"/></ofd:Fonts></ofd:Res>`);
  put(
    'D/Template.xml',
    `<ofd:Page ${NS}><ofd:Content><ofd:Layer ID="${id++}">${text(20, 15, 5, '版式文档性能样张')}</ofd:Layer></ofd:Content></ofd:Page>`,
  );
  const next = characterSource();
  const list = [];
  for (let page = 1; page <= pages; page++) {
    const body = Array.from({ length: lines }, (_, line) =>
      text(20, 30 + 7 * line, 4, Array.from({ length: 40 }, next).join('')),
    );
    put(
      `D/P${page}.xml`,
      `<ofd:Page ${NS}><ofd:Template TemplateID="3"/><ofd:Content><ofd:Layer ID="${id++}">${body.join('')}</ofd:Layer></ofd:Content></ofd:Page>`,
    );
    list.push(`<ofd:Page ID="${1e6 + page}" BaseLoc="P${page}.xml"/>`);
  }
  put(
    'D/Document.xml',
    `<ofd:Document ${NS}><ofd:CommonData><ofd:MaxUnitID>9999999</ofd:MaxUnitID><ofd:PageArea><ofd:PhysicalBox>0 0 210 297</ofd:PhysicalBox></ofd:PageArea><ofd:PublicRes>Res.xml</ofd:PublicRes><ofd:TemplatePage ID="3" BaseLoc="Template.xml"/></ofd:CommonData><ofd:Pages>${list.join('')}</ofd:Pages></ofd:Document>`,
  );
  await archive.finalize();
  return Buffer.concat(chunks);
}
