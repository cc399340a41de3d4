// Writes examples/invoice.ofd: `make build && node examples/make-invoice.mjs`. A made-up invoice that shows every kind of
// object: template, layers, text in fonts that are named and one that is embedded, paths, arcs, a gradient, a pattern, a
// clip, a composite unit, draw parameters, transparency, pictures, annotations, an attachment, and a seal that is itself
// a small OFD. Nobody in it exists.
import { createWriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createCanvas } from '@napi-rs/canvas';
import { ZipArchive } from 'archiver';
import { subsetFace } from '../dist/fonts/index.js';
import { systemFontBook } from '../dist/fonts/system.js';

const NS = 'xmlns:ofd="http://www.ofdspec.org/2016"';
const xml = (body) => `<?xml version="1.0" encoding="UTF-8"?>\n${body}\n`;
const number = (value) => String(Math.round(value * 1000) / 1000);

let nextId = 100;
const id = () => nextId++;

// ---- text, paths, pictures -------------------------------------------------------------------------------------------

const FONT_SONG = 2;
const FONT_KAI = 3;
const FONT_HEI = 4;
const FONT_EMBEDDED = 5;

const isWide = (character) => character.codePointAt(0) > 0x2e7f;

/** One line of text with the baseline at (x, y). */
function text(
  x,
  y,
  size,
  content,
  { font = FONT_SONG, color = '0 0 0', weight = 400, attributes = '', transform = '' } = {},
) {
  const steps = [...content].map((character) => (isWide(character) ? size : size / 2));
  const width = steps.reduce((sum, step) => sum + step, 0);
  const delta = steps.length > 1 ? ` DeltaX="${steps.slice(0, -1).map(number).join(' ')}"` : '';
  return (
    `<ofd:TextObject ID="${id()}" Boundary="${number(x)} ${number(y - size)} ${number(width)} ${number(size * 1.3)}" Font="${font}" ` +
    `Size="${number(size)}" Weight="${weight}"${attributes}><ofd:FillColor Value="${color}"/>${transform}` +
    `<ofd:TextCode X="0" Y="${number(size)}"${delta}>${content}</ofd:TextCode></ofd:TextObject>`
  );
}

function path(x, y, width, height, data, inner = '', attributes = '') {
  return (
    `<ofd:PathObject ID="${id()}" Boundary="${number(x)} ${number(y)} ${number(width)} ${number(height)}"${attributes}>` +
    `${inner}<ofd:AbbreviatedData>${data}</ofd:AbbreviatedData></ofd:PathObject>`
  );
}

const line = (x1, y1, x2, y2) =>
  path(
    Math.min(x1, x2),
    Math.min(y1, y2),
    Math.abs(x2 - x1),
    Math.abs(y2 - y1),
    `M ${x1 < x2 ? 0 : x1 - x2} 0 L ${number(x2 - Math.min(x1, x2))} ${number(y2 - y1)}`,
  );

function image(x, y, width, height, resource, attributes = '') {
  return `<ofd:ImageObject ID="${id()}" Boundary="${x} ${y} ${width} ${height}" CTM="${width} 0 0 ${height} 0 0" ResourceID="${resource}"${attributes}/>`;
}

/** Code 128 B of `digits` as one filled path, `height` mm high, with bars of `module` mm. */
function barcode(x, y, module, height, digits) {
  const PATTERNS =
    '212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 211232'.split(
      ' ',
    );
  const START_B = 104;
  const codes = [...digits].map((character) => character.charCodeAt(0) - 32);
  const check = codes.reduce((sum, code, index) => sum + code * (index + 1), START_B) % 103;
  const widths = [...[START_B, ...codes, check].map((code) => PATTERNS[code]), '2331112'].join('');
  let at = 0;
  let data = '';
  [...widths].forEach((width, index) => {
    const end = at + Number(width) * module;
    if (index % 2 === 0)
      data += `M ${number(at)} 0 L ${number(end)} 0 L ${number(end)} ${height} L ${number(at)} ${height} C `;
    at = end;
  });
  return path(x, y, at, height, data.trim(), '<ofd:FillColor Value="0 0 0"/>', ' Stroke="false" Fill="true"');
}

// ---- the seal: an OFD of one page in a GB/T 38540 structure without a valid signature --------------------------------

const der = (tag, ...parts) => {
  const body = Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part))));
  const length =
    body.length < 128
      ? [body.length]
      : body.length < 256
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts) => der(0x30, ...parts);
const integer = (value) => der(0x02, [value]);
const ia5 = (value) => der(0x16, value);
const utf8 = (value) => der(0x0c, value);
const octets = (value) => der(0x04, value);
const bits = (value) => der(0x03, Buffer.concat([Buffer.from([0]), Buffer.from(value)]));
const time = (value) => der(0x18, value);
const sm2WithSm3 = der(0x06, [0x2a, 0x81, 0x1c, 0xcf, 0x55, 0x01, 0x83, 0x75]);

function signedValue(picture) {
  const info = sequence(
    sequence(ia5('ES'), integer(4), ia5('example')),
    ia5('00000000000001'),
    sequence(
      integer(1),
      utf8('样例专用章'),
      integer(1),
      sequence(octets('sample')),
      time('20260101000000Z'),
      time('20260101000000Z'),
      time('20360101000000Z'),
    ),
    sequence(ia5('ofd'), octets(picture), integer(40), integer(30)),
  );
  const seal = sequence(info, octets('sample'), sm2WithSm3, bits('sample'));
  const toSign = sequence(
    integer(4),
    seal,
    time('20261130000000Z'),
    bits(Buffer.alloc(32)),
    ia5('/Doc_0/Signs/Sign_0/Signature.xml'),
  );
  return sequence(toSign, octets('sample'), sm2WithSm3, bits('sample'));
}

async function sealPackage() {
  const red = '<ofd:StrokeColor Value="220 30 30"/>';
  const arcText = [...'样例服务有限公司发票专用章'].map((character, index, all) => {
    const angle = ((index - (all.length - 1) / 2) * 17 * Math.PI) / 180;
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    const [x, y] = [20 + 15 * sin, 15 - 10.5 * cos];
    return (
      `<ofd:TextObject ID="${id()}" Boundary="${number(x - 2)} ${number(y - 2)} 4 4" Font="2" Size="3.2" CTM="${[cos, sin, -sin, cos, 2, 2].map(number).join(' ')}">` +
      `<ofd:FillColor Value="220 30 30"/><ofd:TextCode X="-1.6" Y="1.2">${character}</ofd:TextCode></ofd:TextObject>`
    );
  });
  const page =
    path(0, 0, 40, 30, 'M 1 15 A 19 14 0 1 1 39 15 A 19 14 0 1 1 1 15 C', red, ' LineWidth="0.9"') +
    path(0, 0, 40, 30, 'M 2.2 15 A 17.8 12.8 0 1 1 37.8 15 A 17.8 12.8 0 1 1 2.2 15 C', red, ' LineWidth="0.25"') +
    arcText.join('') +
    text(8, 17.3, 2.4, '91000000MA0SAMPLE0', { font: 2, color: '220 30 30' }).replace(
      /DeltaX="[^"]*"/,
      'DeltaX="g 17 1.35"',
    ) +
    text(14.5, 22.5, 2.8, '样例专章', { color: '220 30 30' });
  return zip({
    'OFD.xml': ofdXml('<ofd:DocID>00000000000000000000000000000002</ofd:DocID>'),
    'Doc_0/Document.xml': xml(
      `<ofd:Document ${NS}><ofd:CommonData><ofd:MaxUnitID>${nextId}</ofd:MaxUnitID><ofd:PageArea><ofd:PhysicalBox>0 0 40 30</ofd:PhysicalBox></ofd:PageArea>` +
        '<ofd:PublicRes>PublicRes.xml</ofd:PublicRes></ofd:CommonData><ofd:Pages><ofd:Page ID="1" BaseLoc="Page.xml"/></ofd:Pages></ofd:Document>',
    ),
    'Doc_0/PublicRes.xml': xml(
      `<ofd:Res ${NS} BaseLoc="Res"><ofd:Fonts><ofd:Font ID="2" FontName="宋体" FamilyName="SimSun"/></ofd:Fonts></ofd:Res>`,
    ),
    'Doc_0/Page.xml': xml(
      `<ofd:Page ${NS}><ofd:Content><ofd:Layer ID="${id()}">${page}</ofd:Layer></ofd:Content></ofd:Page>`,
    ),
  });
}

// ---- parts ---------------------------------------------------------------------------------------------------------

function ofdXml(info, more = '') {
  return xml(
    `<ofd:OFD ${NS} Version="1.0" DocType="OFD"><ofd:DocBody><ofd:DocInfo>${info}</ofd:DocInfo><ofd:DocRoot>Doc_0/Document.xml</ofd:DocRoot>${more}</ofd:DocBody></ofd:OFD>`,
  );
}

const BROWN = '128 40 20';
const GOODS = [
  ['*信息技术服务*版式文件转换', '套', '1', '1886.79', '1886.79', '6%', '113.21'],
  ['*印刷品*使用手册（样例）', '册', '20', '45.00', '900.00', '9%', '81.00'],
  ['*电子产品*扫描仪 A4', '台', '2', '1150.00', '2300.00', '13%', '299.00'],
];
const COLUMNS = [12, 68, 84, 102, 130, 158, 172, 198];

function template() {
  const frame = [
    line(12, 30, 198, 30),
    line(12, 52, 198, 52),
    line(12, 60, 198, 60),
    line(12, 92, 198, 92),
    line(12, 100, 198, 100),
    line(12, 122, 198, 122),
    line(12, 30, 12, 122),
    line(198, 30, 198, 122),
    line(20, 30, 20, 52),
    line(106, 30, 106, 52),
    line(114, 30, 114, 52),
  ];
  const verticals = COLUMNS.slice(1, -1).map((x) => line(x, 52, x, 92));
  const labels = ['项目名称', '单位', '数量', '单价', '金额', '税率', '税额'].map((label, column) =>
    text(COLUMNS[column] + 2, 57.3, 3.2, label, { color: BROWN }),
  );
  const sides = [...'购买方信息']
    .map((c, i) => text(14.2, 34.5 + 4 * i, 3.4, c, { color: BROWN }))
    .concat([...'销售方信息'].map((c, i) => text(108.2, 34.5 + 4 * i, 3.4, c, { color: BROWN })));
  const names = [
    text(22, 38, 3.4, '名称：', { color: BROWN }),
    text(22, 47, 3.4, '统一社会信用代码：', { color: BROWN }),
    text(116, 38, 3.4, '名称：', { color: BROWN }),
    text(116, 47, 3.4, '统一社会信用代码：', { color: BROWN }),
  ];
  const rest = [
    text(14, 97.5, 3.4, '价税合计（大写）', { color: BROWN }),
    text(130, 97.5, 3.4, '（小写）', { color: BROWN }),
    text(14, 107, 3.4, '备注', { color: BROWN }),
    text(14, 128, 3.4, '开票人：', { color: BROWN }),
  ];
  const band =
    '<ofd:FillColor><ofd:AxialShd StartPoint="0 0" EndPoint="186 0" Extend="3"><ofd:Segment Position="0"><ofd:Color Value="128 40 20"/></ofd:Segment>' +
    '<ofd:Segment Position="1"><ofd:Color Value="240 210 190"/></ofd:Segment></ofd:AxialShd></ofd:FillColor>';
  const title = text(62, 17, 8, '电子发票（样例）', { font: FONT_KAI, color: BROWN });
  return xml(
    `<ofd:Page ${NS}><ofd:Area><ofd:PhysicalBox>0 0 210 140</ofd:PhysicalBox></ofd:Area><ofd:Content><ofd:Layer ID="${id()}" Type="Background" DrawParam="10">` +
      `${title}${path(12, 20, 186, 1.2, 'M 0 0 L 186 0 L 186 1.2 L 0 1.2 C', band, ' Stroke="false" Fill="true"')}` +
      `${path(128, 4.5, 14, 14, 'M 0 7 A 7 7 0 1 1 14 7 A 7 7 0 1 1 0 7 C', `<ofd:StrokeColor Value="${BROWN}"/>`, ' LineWidth="0.3" DashPattern="1 0.6"')}` +
      [...frame, ...verticals, ...labels, ...sides, ...names, ...rest].join('') +
      '</ofd:Layer></ofd:Content></ofd:Page>',
  );
}

function content() {
  const amount = (x, y, value) => text(x - value.length * 1.6, y, 3.2, value, { font: FONT_EMBEDDED });
  const goods = GOODS.flatMap((cells, row) => {
    const y = 66 + 8 * row;
    return [
      text(14, y, 3.2, cells[0]),
      text(72, y, 3.2, cells[1]),
      amount(100, y, cells[2]),
      amount(128, y, cells[3]),
      amount(156, y, cells[4]),
      text(161, y, 3.2, cells[5]),
      amount(196, y, cells[6]),
    ];
  });
  const parties = [
    text(32, 38, 3.4, '某某科技有限公司（样例）'),
    text(52, 47, 3.2, '91000000MA0SAMPLE1', { font: FONT_EMBEDDED }),
    text(126, 38, 3.4, '样例服务有限公司'),
    text(146, 47, 3.2, '91000000MA0SAMPLE0', { font: FONT_EMBEDDED }),
  ];
  const totals = [
    text(46, 97.5, 3.6, '伍仟伍佰捌拾圆整', { font: FONT_HEI, weight: 700 }),
    text(146, 97.5, 3.6, '¥5580.00', { font: FONT_EMBEDDED }),
  ];
  const head = [
    text(150, 12, 3.2, '发票号码：', { color: BROWN }),
    text(166.5, 12, 2.6, '26000000000000000001', { font: FONT_EMBEDDED }).replace(
      /DeltaX="[^"]*"/,
      'DeltaX="g 19 1.56"',
    ),
    text(150, 17, 3.2, '开票日期：', { color: BROWN }),
    text(166.5, 17, 3.2, '2026年11月30日'),
  ];
  const notes = [
    text(24, 107, 3.2, '此件为软件样例，不作报销凭证。'),
    text(24, 113, 3.2, 'Sample only; every name and number is made up.', { font: FONT_EMBEDDED }),
    text(28, 128, 3.4, '样例员', { attributes: ' Italic="true"' }),
  ];
  const circled = path(
    40.5,
    94,
    4.6,
    4.6,
    'M 0.3 2.3 A 2 2 0 1 1 4.3 2.3 A 2 2 0 1 1 0.3 2.3 C M 0.9 0.9 L 3.7 3.7 M 3.7 0.9 L 0.9 3.7',
    '',
    ' Fill="true"',
  );
  const clipped =
    `<ofd:ImageObject ID="${id()}" Boundary="172 102 22 18" CTM="22 0 0 18 0 0" ResourceID="7" Alpha="200"><ofd:Clips TransFlag="false"><ofd:Clip><ofd:Area>` +
    '<ofd:Path Boundary="0 0 22 18" Fill="true"><ofd:AbbreviatedData>M 0 9 A 11 9 0 1 1 22 9 A 11 9 0 1 1 0 9 C</ofd:AbbreviatedData></ofd:Path></ofd:Area></ofd:Clip></ofd:Clips></ofd:ImageObject>';
  const watermark =
    '<ofd:FillColor><ofd:Pattern Width="46" Height="24" XStep="60" YStep="34" CTM="0.94 -0.34 0.34 0.94 0 20"><ofd:CellContent>' +
    text(2, 14, 7, '样例 SAMPLE', { font: FONT_KAI, color: '150 150 150', attributes: ' Alpha="38"' }) +
    '</ofd:CellContent></ofd:Pattern></ofd:FillColor>';
  const composite = `<ofd:CompositeObject ID="${id()}" Boundary="14 6 20 12" CTM="0.5 0 0 0.5 0 0" ResourceID="8"/>`;
  return xml(
    `<ofd:Page ${NS}><ofd:Template TemplateID="9" ZOrder="Background"/><ofd:Content><ofd:Layer ID="${id()}">` +
      path(0, 0, 210, 140, 'M 0 0 L 210 0 L 210 140 L 0 140 C', watermark, ' Stroke="false" Fill="true"') +
      [...head, ...parties, ...goods, ...totals, circled, ...notes].join('') +
      `${barcode(118, 124, 0.3, 8, '26000000000000000001')}${image(36, 6, 12, 12, 6)}${clipped}${composite}` +
      '</ofd:Layer></ofd:Content></ofd:Page>',
  );
}

function pictures() {
  const logo = createCanvas(96, 96);
  const pen = logo.getContext('2d');
  pen.fillStyle = '#1c5fa8';
  pen.beginPath();
  pen.arc(48, 48, 44, 0, 2 * Math.PI);
  pen.fill();
  pen.clearRect(26, 40, 44, 16);
  const photo = createCanvas(220, 180);
  const brush = photo.getContext('2d');
  const sky = brush.createLinearGradient(0, 0, 0, 180);
  sky.addColorStop(0, '#8ec5ff');
  sky.addColorStop(1, '#f6e7c8');
  brush.fillStyle = sky;
  brush.fillRect(0, 0, 220, 180);
  brush.fillStyle = '#4c7a4a';
  brush.beginPath();
  brush.moveTo(0, 180);
  brush.lineTo(70, 70);
  brush.lineTo(120, 140);
  brush.lineTo(160, 90);
  brush.lineTo(220, 180);
  brush.fill();
  return { 'Doc_0/Res/logo.png': logo.toBuffer('image/png'), 'Doc_0/Res/photo.jpg': photo.toBuffer('image/jpeg', 80) };
}

/** The Latin letters and digits of a monospaced face of this machine, as the document's own font program. */
function embeddedFont() {
  const book = systemFontBook([]);
  const font = book.resolve({
    fontName: 'DejaVu Sans Mono',
    bold: false,
    italic: false,
    serif: false,
    fixedWidth: true,
    weight: 400,
  });
  const characters = [...new Set(' ¥.;,0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')];
  const glyphs = characters.map((character) => font.glyphFor(character.codePointAt(0)));
  const { face } = glyphs[0];
  return { bytes: Buffer.from(subsetFace(face, [0, ...glyphs.map((glyph) => glyph.glyphId)]).bytes), characters };
}

/** The embedded program has no character map: each text says which glyph shows each character. */
function withGlyphs(page, characters) {
  return page.replaceAll(
    /(<ofd:TextObject [^>]*Font="5"[^>]*>.*?)(<ofd:TextCode[^>]*>)([^<]*)/g,
    (_all, head, code, content) => {
      const glyphs = [...content].map((character) => characters.indexOf(character) + 1);
      if (glyphs.includes(0)) throw new Error(`the embedded face lacks a character of "${content}"`);
      return `${head}<ofd:CGTransform CodePosition="0" CodeCount="${glyphs.length}" GlyphCount="${glyphs.length}"><ofd:Glyphs>${glyphs.join(' ')}</ofd:Glyphs></ofd:CGTransform>${code}${content}`;
    },
  );
}

async function zip(parts) {
  const archive = new ZipArchive({ zlib: { level: 9 } });
  const chunks = [];
  archive.on('data', (chunk) => chunks.push(chunk));
  for (const [name, body] of Object.entries(parts))
    archive.append(body, { name, date: new Date('2026-01-01T00:00:00Z') });
  await archive.finalize();
  return Buffer.concat(chunks);
}

// ---- the package ---------------------------------------------------------------------------------------------------

const { bytes: fontBytes, characters } = embeddedFont();
const seal = await sealPackage();
const link = `<ofd:Annot ID="${id()}" Type="Link" Creator="sample" LastModDate="2026-11-30"><ofd:Appearance Boundary="24 110 70 4">${path(0, 0, 70, 4, 'M 0 0 L 70 0 L 70 4 L 0 4 C', '<ofd:Actions><ofd:Action Event="CLICK"><ofd:URI URI="https://example.com/"/></ofd:Action></ofd:Actions>', ' Visible="false" Stroke="false"')}</ofd:Appearance></ofd:Annot>`;
const highlight = `<ofd:Annot ID="${id()}" Type="Highlight" Creator="sample" LastModDate="2026-11-30"><ofd:Appearance Boundary="145 93.4 36 5.6">${path(0, 0, 36, 5.6, 'M 0 0 L 36 0 L 36 5.6 L 0 5.6 C', '<ofd:FillColor Value="255 235 60" Alpha="110"/>', ' Stroke="false" Fill="true"')}</ofd:Appearance></ofd:Annot>`;
const composite =
  '<ofd:CompositeGraphicUnits><ofd:CompositeGraphicUnit ID="8" Width="40" Height="24"><ofd:Content>' +
  path(
    0,
    0,
    40,
    24,
    'M 2 2 L 38 2 L 38 22 L 2 22 C',
    '<ofd:StrokeColor Value="28 95 168"/><ofd:FillColor Value="232 240 250"/>',
    ' Fill="true" LineWidth="0.8" Join="Round"',
  ) +
  text(6, 15, 7, '版式样例', { font: FONT_HEI, color: '28 95 168' }) +
  '</ofd:Content></ofd:CompositeGraphicUnit></ofd:CompositeGraphicUnits>';
const parts = {
  'OFD.xml': ofdXml(
    '<ofd:DocID>00000000000000000000000000000001</ofd:DocID><ofd:Title>电子发票（样例）</ofd:Title><ofd:Author>样例服务有限公司</ofd:Author><ofd:CreationDate>2026-11-30</ofd:CreationDate>' +
      '<ofd:Creator>ofd-server</ofd:Creator><ofd:CustomDatas><ofd:CustomData Name="发票号码">26000000000000000001</ofd:CustomData></ofd:CustomDatas>',
    '<ofd:Signatures>Doc_0/Signs/Signatures.xml</ofd:Signatures>',
  ),
  'Doc_0/Document.xml': xml(
    `<ofd:Document ${NS}><ofd:CommonData><ofd:MaxUnitID>9999</ofd:MaxUnitID><ofd:PageArea><ofd:PhysicalBox>0 0 210 140</ofd:PhysicalBox></ofd:PageArea>` +
      '<ofd:PublicRes>PublicRes.xml</ofd:PublicRes><ofd:DocumentRes>DocumentRes.xml</ofd:DocumentRes><ofd:TemplatePage ID="9" BaseLoc="Tpls/Tpl_0/Content.xml"/></ofd:CommonData>' +
      '<ofd:Pages><ofd:Page ID="1" BaseLoc="Pages/Page_0/Content.xml"/></ofd:Pages><ofd:Annotations>Annots/Annotations.xml</ofd:Annotations><ofd:Attachments>Attachs/Attachments.xml</ofd:Attachments></ofd:Document>',
  ),
  'Doc_0/PublicRes.xml': xml(
    `<ofd:Res ${NS} BaseLoc="Res"><ofd:Fonts><ofd:Font ID="${FONT_SONG}" FontName="宋体" FamilyName="SimSun"/><ofd:Font ID="${FONT_KAI}" FontName="楷体" FamilyName="KaiTi"/>` +
      `<ofd:Font ID="${FONT_HEI}" FontName="黑体" FamilyName="SimHei"/><ofd:Font ID="${FONT_EMBEDDED}" FontName="Sample Mono"><ofd:FontFile>mono.ttf</ofd:FontFile></ofd:Font></ofd:Fonts></ofd:Res>`,
  ),
  'Doc_0/DocumentRes.xml': xml(
    `<ofd:Res ${NS} BaseLoc="Res"><ofd:DrawParams><ofd:DrawParam ID="11" LineWidth="0.3"/><ofd:DrawParam ID="10" Relative="11"><ofd:StrokeColor Value="${BROWN}"/></ofd:DrawParam></ofd:DrawParams>` +
      '<ofd:MultiMedias><ofd:MultiMedia ID="6" Type="Image" Format="PNG"><ofd:MediaFile>logo.png</ofd:MediaFile></ofd:MultiMedia><ofd:MultiMedia ID="7" Type="Image" Format="JPEG"><ofd:MediaFile>photo.jpg</ofd:MediaFile></ofd:MultiMedia></ofd:MultiMedias>' +
      `${composite}</ofd:Res>`,
  ),
  'Doc_0/Res/mono.ttf': fontBytes,
  ...pictures(),
  'Doc_0/Tpls/Tpl_0/Content.xml': template(),
  'Doc_0/Pages/Page_0/Content.xml': withGlyphs(content(), characters),
  'Doc_0/Annots/Annotations.xml': xml(
    `<ofd:Annotations ${NS}><ofd:Page PageID="1"><ofd:FileLoc>Page_0.xml</ofd:FileLoc></ofd:Page></ofd:Annotations>`,
  ),
  'Doc_0/Annots/Page_0.xml': xml(`<ofd:PageAnnot ${NS}>${link}${highlight}</ofd:PageAnnot>`),
  'Doc_0/Attachs/Attachments.xml': xml(
    `<ofd:Attachments ${NS}><ofd:Attachment ID="a1" Name="original_invoice" Format="xml" Visible="false"><ofd:FileLoc>original_invoice.xml</ofd:FileLoc></ofd:Attachment></ofd:Attachments>`,
  ),
  'Doc_0/Attachs/original_invoice.xml': xml(
    '<eInvoice><InvoiceNo>26000000000000000001</InvoiceNo><TaxInclusiveTotalAmount>5580.00</TaxInclusiveTotalAmount></eInvoice>',
  ),
  'Doc_0/Signs/Signatures.xml': xml(
    `<ofd:Signatures ${NS}><ofd:MaxSignId>s001</ofd:MaxSignId><ofd:Signature ID="s001" Type="Seal" BaseLoc="Sign_0/Signature.xml"/></ofd:Signatures>`,
  ),
  'Doc_0/Signs/Sign_0/Signature.xml': xml(
    `<ofd:Signature ${NS}><ofd:SignedInfo><ofd:Provider ProviderName="sample"/><ofd:SignatureMethod>1.2.156.10197.1.501</ofd:SignatureMethod><ofd:References CheckMethod="1.2.156.10197.1.401"/>` +
      '<ofd:StampAnnot ID="1" PageRef="1" Boundary="150 100 40 30"/></ofd:SignedInfo><ofd:SignedValue>SignedValue.dat</ofd:SignedValue></ofd:Signature>',
  ),
  'Doc_0/Signs/Sign_0/SignedValue.dat': signedValue(seal),
};
const target = fileURLToPath(new URL('invoice.ofd', import.meta.url));
createWriteStream(target).end(await zip(parts));
