import { describe, expect, it } from 'vitest';
import type { Color } from '../../src/display/paint.js';
import { makeBmp, makeGif, makeJpeg, makePng } from '../images/make-images.js';
import { signatureV1, signatureV4 } from '../support/der.js';
import { BLACK, BLUE, type Drawn, draw, filledXml, GREEN, mix, RED, WHITE } from './support.js';

const YELLOW: Color = [255, 255, 0];
const SHEET = '0 0 100 80';

function square(box: string, color: Color, attributes = ''): string {
  return filledXml(box, `<ofd:FillColor Value="${color.join(' ')}"/>`, attributes);
}

function drawAnnotated(page: string, annotations: string): Promise<Drawn> {
  return draw({
    pages: [page],
    physicalBox: SHEET,
    document: '<ofd:Annotations>Annots.xml</ofd:Annotations>',
    files: {
      'Doc_0/Annots.xml': '<Annotations><Page PageID="1001"><FileLoc>Annot.xml</FileLoc></Page></Annotations>',
      'Doc_0/Annot.xml': `<PageAnnot>${annotations.replaceAll('ofd:', '')}</PageAnnot>`,
    },
  });
}

function annotation(type: string, appearance: string, attributes = ''): string {
  return `<Annot ID="300" Type="${type}" ${attributes}><Appearance Boundary="20 20 60 40">${appearance}</Appearance></Annot>`;
}

describe('annotations', () => {
  const line =
    '<PathObject ID="301" Boundary="0 0 60 40" LineWidth="4"><StrokeColor Value="255 0 0"/><AbbreviatedData>M 0 10 L 40 10 L 40 30</AbbreviatedData></PathObject>';

  it.each(['Path', 'Stamp', 'Watermark', 'Something'])('of type %s are drawn in their own space', async (type) => {
    const drawn = await drawAnnotated('', annotation(type, line));
    drawn.expectColors([
      [30, 30, RED],
      [60, 40, RED],
      [30, 35, WHITE],
      [20, 20, WHITE],
    ]);
  });

  it('of type Highlight let the text below show, by their own opacity or because they are opaque', async () => {
    const text = square('20 28 60 2', BLACK) + square('20 48 60 2', BLACK);
    const marks = square('0 4 60 10', YELLOW) + square('0 24 60 10', YELLOW, 'Alpha="128"');
    const drawn = await drawAnnotated(text, annotation('Highlight', marks));
    drawn.expectColors([
      ...([
        [50, 29, BLACK],
        [50, 26, YELLOW],
        [50, 46, mix(WHITE, YELLOW, 128 / 255)],
      ] as const),
      // A translucent mark lies on the text as any paint does.
      ...([[50, 49, mix(BLACK, YELLOW, 128 / 255)]] as const),
    ]);
  });

  it('are shown where they are not printed, and not where they are invisible', async () => {
    const drawn = await drawAnnotated(
      '',
      annotation('Path', square('0 0 20 20', GREEN), 'Print="false"') +
        annotation('Path', square('30 0 20 20', BLUE), 'Visible="false"'),
    );
    drawn.expectColors([
      [30, 30, GREEN],
      [60, 30, WHITE],
    ]);
  });

  it('lie in their order over the page', async () => {
    const drawn = await drawAnnotated(
      square('10 10 80 60', GREEN),
      annotation('Path', square('0 0 40 40', RED)) + annotation('Path', square('20 0 40 40', BLUE)),
    );
    drawn.expectColors([
      [30, 30, RED],
      [50, 30, BLUE],
      [15, 15, GREEN],
    ]);
  });
});

describe('actions', () => {
  it('with a region, a sound or no sense draw nothing and stop nothing', async () => {
    const region =
      '<ofd:Region><ofd:Area Start="0 0"><ofd:Line Point1="9 9"/><ofd:Arc EllipseSize="3" EndPoint="1 1"/><ofd:Nonsense/></ofd:Area></ofd:Region>';
    const actions = `<ofd:Actions><ofd:Action Event="CLICK">${region}<ofd:URI URI="https://example.com/"/></ofd:Action><ofd:Action Event="CLICK"><ofd:Sound ResourceID="9"/></ofd:Action><ofd:Action Event="X"/></ofd:Actions>`;
    const drawn = await draw({
      pages: [square('10 10 20 20', RED).replace('<ofd:FillColor', `${actions}<ofd:FillColor`)],
      physicalBox: SHEET,
    });
    drawn.expectColors([[20, 20, RED]]);
    expect(drawn.codes.filter((code) => code !== 'action_dropped')).toEqual([]);
  });
});

describe('seals', () => {
  const palette = [255, 0, 0, 255, 255, 255];
  const pictures: readonly (readonly [string, Uint8Array])[] = [
    ['BMP', makeBmp({ width: 2, height: 1, bitsPerPixel: 24, data: [0, 0, 255, 255, 255, 255, 0, 0] })],
    ['gif', makeGif(2, 1, palette, [0, 1])],
    [
      'JPG',
      makeJpeg({
        blocks: [
          [76, 85, 255],
          [255, 128, 128],
        ],
      }),
    ],
    [
      'png',
      makePng({ width: 2, height: 1, bitDepth: 8, colorType: 6, rows: [Uint8Array.of(255, 0, 0, 255, 0, 0, 0, 0)] }),
    ],
  ];

  async function drawSealed(type: string, picture: Uint8Array, stamps: string, page = ''): Promise<Drawn> {
    const signature = `<Signature><SignedInfo>${stamps}</SignedInfo><SignedValue>1.dat</SignedValue></Signature>`;
    return draw({
      pages: [page],
      physicalBox: SHEET,
      docBody: '<ofd:Signatures>Doc_0/Signs/Signatures.xml</ofd:Signatures>',
      files: {
        'Doc_0/Signs/Signatures.xml': '<Signatures><Signature ID="1" BaseLoc="1.xml"/></Signatures>',
        'Doc_0/Signs/1.xml': signature,
        'Doc_0/Signs/1.dat': type === 'JPG' ? signatureV1({ type, picture }) : signatureV4({ type, picture }),
      },
    });
  }
  const stamp = (attributes: string): string => `<StampAnnot ID="1" PageRef="1001" ${attributes}/>`;

  it.each(pictures)(
    'with a %s fill the Boundary of their stamps and hide nothing with their white',
    async (type, picture) => {
      const below = square('20 20 60 10', BLUE);
      const drawn = await drawSealed(type, picture, stamp('Boundary="20 20 60 40"'), below);
      drawn.expectColors(
        [
          [35, 50, RED],
          [65, 50, WHITE],
          [65, 25, BLUE],
          [85, 50, WHITE],
        ],
        12,
      );
    },
  );

  it('are cut by Clip, counted from Boundary, and reach over the edge of the page', async () => {
    const [, [, gif]] = pictures as [never, readonly [string, Uint8Array]];
    const drawn = await drawSealed(
      'gif',
      gif,
      stamp('Boundary="20 20 60 40" Clip="5 10 8 20"') + stamp('Boundary="80 10 40 8" Clip="0 0 20 8"'),
    );
    drawn.expectColors([
      [24, 40, WHITE],
      [26, 40, RED],
      [32, 40, RED],
      [34, 40, WHITE],
      [30, 28, WHITE],
      [30, 52, WHITE],
      [90, 14, RED],
    ]);
  });

  it('with a drawing that cannot be shown are told', async () => {
    const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>');
    const drawn = await drawSealed('svg', svg, stamp('Boundary="20 20 60 40"'), square('20 20 60 40', GREEN));
    drawn.expectColors([[50, 40, GREEN]]);
    expect(drawn.codes).toEqual(['image_undecodable']);
    expect(drawn.diagnostics.find(({ code }) => code === 'image_undecodable')?.message).toContain('SVG');
  });

  it('on pages that are not there, or without a place, are told', async () => {
    const [, [, gif]] = pictures as [never, readonly [string, Uint8Array]];
    const stamps =
      stamp('Boundary="20 20 60 40"') +
      '<StampAnnot ID="2" PageRef="77" Boundary="1 1 9 9"/>' +
      stamp('Boundary="20 20 0 40"') +
      '<StampAnnot ID="3"/>';
    const drawn = await drawSealed('gif', gif, stamps);
    drawn.expectColors([[35, 50, RED]]);
    expect(drawn.codes).toEqual(['stamp_invalid', 'stamp_invalid', 'stamp_invalid']);
  });
});
