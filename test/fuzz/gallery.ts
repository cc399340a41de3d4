/** One package with something of everything that the format has, small, to be damaged. */
import { curve, formula, profile, xyz } from '../engine/make-profile.js';
import { cff, cs } from '../fonts/make-cff.js';
import { cmapFormat4, cmapTable, SQUARE, simpleGlyph, trueType } from '../fonts/make-truetype.js';
import { type1 } from '../fonts/make-type1.js';
import { makeBmp, makeGif, makeJbig2, makeJpeg, makePng } from '../images/make-images.js';
import { ALPHA_JP2, FAX_G4_TIFF, RGB_WEBP } from '../images/samples.js';
import { signatureV1, signatureV4 } from '../support/der.js';
import { buildOfd, textXml } from '../support/ofd-builder.js';

const BOX = cs(100, 0, 'rmoveto', 0, 700, 'rlineto', 700, 0, 'rlineto', 0, -700, 'rlineto', 'endchar');
const TYPE1_BOX = cs(50, 600, 'hsbw', 10, 'vmoveto', 300, 'hlineto', 400, 'vlineto', 'closepath', 'endchar');
const SQUARE_PATH =
  '<AbbreviatedData>M 0 0 L 30 0 Q 35 10 30 20 B 20 25 10 25 0 20 A 5 9 30 0 1 0 0 C</AbbreviatedData>';

function color(value: string, attributes = ''): string {
  return `<Color Value="${value}" ${attributes}/>`;
}

const SEGMENTS =
  `<Segment Position="0">${color('255 0 0')}</Segment><Segment Position="0.4">${color('0 255 0', 'Alpha="99"')}</Segment>` +
  `<Segment Position="1">${color('0 0 255')}</Segment>`;
const MESH = [
  ...['0 0 0', '30 0 0', '0 20 0', '30 20 1', '40 30 2', '5 5 3'].map((place, i) => {
    const [x, y, flag] = place.split(' ');
    return `<Point X="${x}" Y="${y}" EdgeFlag="${flag}">${color(`${i * 40} 99 200`, i === 4 ? 'Alpha="80"' : '')}</Point>`;
  }),
].join('');
const LATTICE = [0, 1, 2, 3, 4, 5]
  .map((i) => `<Point X="${(i % 3) * 15}" Y="${i > 2 ? 20 : 0}">${color(`${i * 50} 0 99`)}</Point>`)
  .join('');
const CLIPS =
  '<Clips TransFlag="true"><Clip><Area CTM="1 0 0 1 2 2"><Path Boundary="0 0 30 30">' +
  `${SQUARE_PATH}</Path></Area><Area><Text Boundary="0 0 30 30" Font="1" Size="9"><TextCode X="1" Y="9">ab</TextCode></Text></Area></Clip></Clips>`;
const FILLS = [
  '<FillColor Value="#FF 0 #7F" ColorSpace="30" Alpha="200"/>',
  '<FillColor Index="1" ColorSpace="31"/>',
  '<FillColor Value="9 9 9 9" ColorSpace="32"/>',
  `<FillColor><AxialShd StartPoint="0 0" EndPoint="9 9" MapType="Repeat" MapUnit="3" Extend="3">${SEGMENTS}</AxialShd></FillColor>`,
  `<FillColor><RadialShd StartPoint="9 9" EndPoint="12 9" StartRadius="1" EndRadius="9" MapType="Reflect" MapUnit="3" Extend="3" Eccentricity="0.5" Angle="30">${SEGMENTS}</RadialShd></FillColor>`,
  `<FillColor><RadialShd StartPoint="3 9" EndPoint="22 9" StartRadius="4" EndRadius="2" Extend="1">${SEGMENTS}</RadialShd></FillColor>`,
  `<FillColor><GouraudShd Extend="1">${MESH}<BackColor Value="1 2 3"/></GouraudShd></FillColor>`,
  `<FillColor><LaGourandShd VerticesPerRow="3">${LATTICE}</LaGourandShd></FillColor>`,
  `<FillColor><Pattern Width="5" Height="5" XStep="6" YStep="7" ReflectMethod="RowAndColumn" RelativeTo="Page" CTM="0.9 0.1 0 1 0 0"><CellContent><PathObject ID="90" Boundary="0 0 5 5" Fill="true"><FillColor Value="9 99 0"/>${SQUARE_PATH}</PathObject><PageBlock><TextObject ID="91" Boundary="0 0 5 5" Font="1" Size="3"><TextCode X="0" Y="3">x</TextCode></TextObject></PageBlock></CellContent></Pattern></FillColor>`,
];
const PATHS = FILLS.map(
  (fill, i) =>
    `<PathObject ID="${100 + i}" Boundary="${10 + (i % 3) * 60} ${10 + Math.floor(i / 3) * 40} 40 30" CTM="1.1 0 0.1 1 0 0" Fill="true" LineWidth="1" DashPattern="3 1" Join="Round" DrawParam="41" Alpha="220">${i % 2 ? CLIPS : ''}${fill}<StrokeColor Value="0 0 0"/>${SQUARE_PATH}</PathObject>`,
).join('');
const TEXTS = [
  '<TextObject ID="120" Boundary="10 140 90 9" Font="2" Size="4" HScale="0.8" Weight="700" Italic="true"><CGTransform CodePosition="0" CodeCount="2" GlyphCount="1"><Glyphs>1 2</Glyphs></CGTransform><TextCode X="1" Y="5" DeltaX="g 2 4 1" DeltaY="0 1">ab甲&amp;</TextCode><TextCode X="30" Y="5">\\0020ab</TextCode></TextObject>',
  `<TextObject ID="121" Boundary="10 150 90 9" Font="3" Size="4" ReadDirection="90" CharDirection="270" Stroke="true" LineWidth="0.1">${FILLS[3]}<StrokeColor Value="9 9 9"/><TextCode X="1" Y="5" DeltaX="g 3 4">ABBA</TextCode></TextObject>`,
  `<TextObject ID="122" Boundary="10 160 90 9" Font="4" Size="4">${FILLS[6]}<TextCode X="1" Y="5">BBBB</TextCode></TextObject>`,
].join('');
const IMAGES = [10, 11, 12, 13, 14, 15, 16, 17, 18]
  .map(
    (id, i) =>
      `<ImageObject ID="${130 + i}" Boundary="${10 + i * 20} 180 18 18" CTM="18 0 0 18 0 0" ResourceID="${id}" Substitution="10" ${i % 3 ? '' : 'ImageMask="12"'} Alpha="200"><Border LineWidth="1" HorizonalCornerRadius="3" VerticalCornerRadius="2" DashPattern="2 1"><BorderColor Value="0 0 255"/></Border></ImageObject>`,
  )
  .join('');
const PAGE =
  '<Page><Template TemplateID="2001" ZOrder="Foreground"/><PageRes>PageRes.xml</PageRes><Area><PhysicalBox>5 5 210 297</PhysicalBox></Area><Content>' +
  `<Layer ID="80" Type="Foreground" DrawParam="40">${PATHS}</Layer><Layer ID="81">${TEXTS}${IMAGES}` +
  '<PageBlock ID="82"><CompositeObject ID="140" Boundary="10 210 40 40" CTM="0.5 0 0 0.5 0 0" ResourceID="50" Alpha="99" DrawParam="40"/>' +
  '<PathObject ID="141" Boundary="60 210 20 20" BlendMode="Multiply" Fill="true"><Actions><Action Event="CLICK"><Region><Area Start="0 0"><Line Point1="5 5"/><Arc SweepDirection="true" LargeArc="false" RotationAngle="0" EllipseSize="3 4" EndPoint="9 9"/><Close/></Area></Region><URI URI="https://example.com/"/></Action></Actions>' +
  `<FillColor Value="255 255 0"/>${SQUARE_PATH}</PathObject></PageBlock></Layer></Content></Page>`;

const RES =
  '<Fonts><Font ID="1" FontName="SimSun"/><Font ID="2" FontName="Own"><FontFile>own.ttf</FontFile></Font><Font ID="3" FontName="Cid"><FontFile>own.cff</FontFile></Font><Font ID="4" FontName="Old"><FontFile>own.pfb</FontFile></Font></Fonts>' +
  '<ColorSpaces><ColorSpace ID="30" Type="RGB" BitsPerComponent="8" Profile="rgb.icc"/><ColorSpace ID="31" Type="GRAY" BitsPerComponent="4" Profile="gray.icc"><Palette><CV>3</CV><CV>#F</CV></Palette></ColorSpace><ColorSpace ID="32" Type="CMYK" BitsPerComponent="4"/></ColorSpaces>' +
  '<DrawParams><DrawParam ID="40" LineWidth="0.5" Cap="Round" Relative="41"/><DrawParam ID="41" MiterLimit="3" DashOffset="1" Relative="40"><StrokeColor Value="0 99 0"/></DrawParam></DrawParams>' +
  `<CompositeGraphicUnits><CompositeGraphicUnit ID="50" Width="80" Height="80"><Content>${textXml('甲 inside', 'ID="52" Boundary="0 0 50 9" Font="1" Size="6"').replaceAll('ofd:', '')}<CompositeObject ID="51" Boundary="0 20 40 40" ResourceID="51"/></Content></CompositeGraphicUnit><CompositeGraphicUnit ID="51" Width="9" Height="9"><Substitution>10</Substitution></CompositeGraphicUnit></CompositeGraphicUnits>`;

const MEDIA_FILES = ['a.png', 'b.jpg', 'c.gif', 'd.bmp', 'e.tif', 'f.jb2', 'g.jp2', 'h.webp', 'i.jpg'];
const MEDIA = MEDIA_FILES.map(
  (file, i) => `<MultiMedia ID="${10 + i}" Type="Image"><MediaFile>${file}</MediaFile></MultiMedia>`,
).join('');

const SIGNATURE = (value: string): string =>
  `<Signature><SignedInfo><StampAnnot ID="1" PageRef="1001" Boundary="150 210 30 30" Clip="0 0 20 30"/></SignedInfo><SignedValue>${value}</SignedValue></Signature>`;
const ANNOTATIONS =
  '<PageAnnot><Annot ID="300" Type="Highlight"><Appearance Boundary="10 250 50 9"><PathObject ID="301" Boundary="0 0 50 9" Fill="true" Stroke="false"><FillColor Value="255 255 0"/><AbbreviatedData>M 0 0 L 50 0 L 50 9 L 0 9 C</AbbreviatedData></PathObject></Appearance></Annot>' +
  '<Annot ID="302" Type="Link" Subtype="x"><Appearance Boundary="70 250 50 9"><PathObject ID="303" Visible="false" Boundary="0 0 50 9"><Actions><Action Event="CLICK"><Goto><Dest Type="XYZ" PageID="1002" Left="1" Top="2" Zoom="1"/></Goto></Action></Actions><AbbreviatedData>M 0 0 L 50 9</AbbreviatedData></PathObject></Appearance></Annot>' +
  '<Annot ID="304" Type="Stamp" Print="false"><Appearance Boundary="10 270 9 9"><ImageObject ID="305" Boundary="0 0 9 9" ResourceID="10"/></Appearance></Annot></PageAnnot>';
const BESIDE =
  '<Outlines><OutlineElem Title="One" Expanded="false"><Actions><Action Event="CLICK"><Goto><Bookmark Name="b"/></Goto></Action></Actions><OutlineElem Title="Two"/></OutlineElem></Outlines>' +
  '<Permissions><Print Printable="true" Copies="3"/></Permissions><VPreferences><PageMode>UseOutlines</PageMode><ZoomMode>FitWidth</ZoomMode></VPreferences><Bookmarks><Bookmark Name="b"><Dest Type="FitH" PageID="1002" Top="9"/></Bookmark></Bookmarks>' +
  '<Annotations>Annots.xml</Annotations><Attachments>Attachs.xml</Attachments>';

function rgbProfile(): Uint8Array {
  const curves = ['rTRC', 'gTRC', 'bTRC'].map((tag) => [tag, formula(3, 2.4, 0.9, 0.1, 0.08, 0.04)] as const);
  const columns = ['rXYZ', 'gXYZ', 'bXYZ'].map((tag, i) => [tag, xyz(0.4, 0.3, i / 3)] as const);
  return profile('RGB', [...curves, ...columns]);
}

/** The package; the same bytes each time. */
export function galleryPackage(): Uint8Array {
  const rows = [0, 1, 2, 3].map((y) => Uint8Array.from({ length: 16 }, (_, i) => (i * 37 + y * 91) & 255));
  const png = makePng({ width: 4, height: 4, bitDepth: 8, colorType: 6, rows, filters: [0, 1, 2, 4] });
  const bmp = makeBmp({
    width: 2,
    height: 2,
    bitsPerPixel: 24,
    data: Array.from({ length: 16 }, (_, i) => i * 9),
  });
  const glyph = simpleGlyph([SQUARE]);
  const cmap = cmapTable([3, 1, cmapFormat4({ 97: 1, 98: 2, 30002: 1 })]);
  return buildOfd({
    pages: [PAGE, textXml('第二页', 'ID="3" Boundary="10 10 100 10" Font="1" Size="4"')],
    templates: [textXml('Template', 'ID="3" Boundary="10 280 100 10" Font="1" Size="4"')],
    publicRes: RES,
    documentRes: `<MultiMedias>${MEDIA}</MultiMedias>`,
    commonData: '<DefaultCS>30</DefaultCS>',
    document: BESIDE,
    docInfo:
      '<DocID>0</DocID><Title>标题</Title><CreationDate>2024-01-01</CreationDate><Keywords><Keyword>k</Keyword></Keywords>',
    docBody: '<Signatures>Doc_0/Signs/Signatures.xml</Signatures>',
    files: {
      'Doc_0/Pages/Page_0/PageRes.xml': `<Res BaseLoc="."><DrawParams><DrawParam ID="42" Cap="Square"/></DrawParams></Res>`,
      'Doc_0/Annots.xml': '<Annotations><Page PageID="1001"><FileLoc>Annot_0.xml</FileLoc></Page></Annotations>',
      'Doc_0/Annot_0.xml': ANNOTATIONS,
      'Doc_0/Attachs.xml':
        '<Attachments><Attachment ID="1" Name="data" Format="xml" CreationDate="2024-01-01"><FileLoc>data.xml</FileLoc></Attachment></Attachments>',
      'Doc_0/data.xml': '<data/>',
      'Doc_0/Signs/Signatures.xml':
        '<Signatures><Signature ID="1" BaseLoc="1.xml"/><Signature ID="2" BaseLoc="2.xml"/></Signatures>',
      'Doc_0/Signs/1.xml': SIGNATURE('1.dat'),
      'Doc_0/Signs/2.xml': SIGNATURE('2.dat'),
      'Doc_0/Signs/1.dat': signatureV1({ type: 'png', picture: png }),
      'Doc_0/Signs/2.dat': signatureV4({ type: 'bmp', picture: bmp }),
      'Doc_0/Res/a.png': png,
      'Doc_0/Res/b.jpg': makeJpeg({
        blocks: [
          [200, 90, 30],
          [10, 20, 250],
        ],
      }),
      'Doc_0/Res/c.gif': makeGif(2, 2, [0, 0, 0, 255, 0, 0, 255, 255, 255], [0, 1, 2, 1]),
      'Doc_0/Res/d.bmp': bmp,
      'Doc_0/Res/e.tif': FAX_G4_TIFF,
      'Doc_0/Res/f.jb2': makeJbig2(2700, 48, FAX_G4_TIFF.subarray(8, 705)),
      'Doc_0/Res/g.jp2': ALPHA_JP2,
      'Doc_0/Res/h.webp': RGB_WEBP,
      'Doc_0/Res/i.jpg': makeJpeg({
        blocks: [
          [1, 2, 3, 4],
          [200, 100, 50, 0],
        ],
        adobeTransform: 2,
      }),
      'Doc_0/Res/rgb.icc': rgbProfile(),
      'Doc_0/Res/gray.icc': profile('GRAY', [['kTRC', curve(0, 0.2, 1)]]),
      'Doc_0/Res/own.ttf': trueType({ glyphs: [new Uint8Array(0), glyph, glyph], tables: { cmap } }),
      'Doc_0/Res/own.cff': cff({ charStrings: [BOX, BOX, BOX], cid: { select: [0, 0, 0], matrices: [undefined] } }),
      'Doc_0/Res/own.pfb': type1({ glyphs: { '.notdef': TYPE1_BOX, B: TYPE1_BOX }, form: 'pfb' }),
    },
  });
}
