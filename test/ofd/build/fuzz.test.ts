// Pages with spoilt attributes and texts: whatever comes out keeps the promises of the display list.
import { describe, expect, it } from 'vitest';
import type { Item } from '../../../src/display/list.js';
import type { Paint, Stroke } from '../../../src/display/paint.js';
import { OfdError } from '../../../src/ofd/error.js';
import { FONTS, fakeFace, MEDIA, open, PLENTY, pathXml, png } from './support.js';

const SEGMENTS =
  '<ofd:Segment Position="0"><ofd:Color Value="255 0 0"/></ofd:Segment><ofd:Segment Position="1"><ofd:Color Value="0 0 255" Alpha="9"/></ofd:Segment>';
const SQUARE = 'M 0 0 L 50 0 L 50 40 L 0 40 C';
const CLIP =
  '<ofd:Clips TransFlag="true"><ofd:Clip><ofd:Area CTM="1 0 0 1 2 2"><ofd:Path Boundary="0 0 9 9"><ofd:AbbreviatedData>M 0 0 L 9 0 L 9 9 C</ofd:AbbreviatedData></ofd:Path></ofd:Area></ofd:Clip></ofd:Clips>';

function filled(paint: string): string {
  return pathXml(SQUARE, 'Fill="true" CTM="1 0 0 1 0 0" Alpha="200"', `<ofd:FillColor>${paint}</ofd:FillColor>${CLIP}`);
}

const PAGE = [
  filled(
    `<ofd:AxialShd StartPoint="0 0" EndPoint="9 9" MapType="Repeat" MapUnit="3" Extend="3">${SEGMENTS}</ofd:AxialShd>`,
  ),
  filled(
    `<ofd:RadialShd StartPoint="9 9" EndPoint="12 9" StartRadius="1" EndRadius="9" MapType="Reflect" MapUnit="3" Extend="3" Eccentricity="0.5" Angle="30">${SEGMENTS}</ofd:RadialShd>`,
  ),
  filled(
    `<ofd:Pattern Width="5" Height="5" XStep="6" YStep="6" ReflectMethod="Row" RelativeTo="Object" CTM="1 0 0 1 0 0"><ofd:CellContent>${pathXml(SQUARE)}</ofd:CellContent></ofd:Pattern>`,
  ),
  filled(
    `<ofd:GouraudShd Extend="1">${[0, 1, 2, 3].map((i) => `<ofd:Point X="${i * 9}" Y="${i * i}" EdgeFlag="1"><ofd:Color Value="9 ${i} 9"/></ofd:Point>`).join('')}<ofd:BackColor Value="1 2 3"/></ofd:GouraudShd>`,
  ),
  pathXml(
    'M 0 0 L 9 9 Q 1 2 3 4 B 1 2 3 4 5 6 A 5 4 30 1 0 9 9',
    'LineWidth="1" MiterLimit="3" DashPattern="2 1" DashOffset="1"',
  ),
  '<ofd:TextObject ID="3" Boundary="1 1 9 9" CTM="1 0 0 1 0 0" Font="2" Size="4" HScale="0.5" ReadDirection="90" CharDirection="0" Weight="700" Italic="true" Stroke="true" LineWidth="1"><ofd:CGTransform CodePosition="0" CodeCount="2" GlyphCount="1"><ofd:Glyphs>3 4</ofd:Glyphs></ofd:CGTransform><ofd:TextCode X="1" Y="2" DeltaX="g 2 4 1" DeltaY="0 1">abc甲</ofd:TextCode></ofd:TextObject>',
  '<ofd:ImageObject ID="4" Boundary="0 0 9 9" CTM="9 0 0 9 0 0" ResourceID="10" ImageMask="10" Alpha="99"><ofd:Border LineWidth="1" HorizonalCornerRadius="1" VerticalCornerRadius="1" DashPattern="1 1"/></ofd:ImageObject>',
  '<ofd:CompositeObject ID="5" Boundary="0 0 9 9" CTM="1 0 0 1 0 0" ResourceID="50" Alpha="99" DrawParam="20"/>',
].join('');
const RES = `${FONTS}${MEDIA}<ofd:DrawParams><ofd:DrawParam ID="20" Relative="20" LineWidth="2"/></ofd:DrawParams><ofd:CompositeGraphicUnits><ofd:CompositeGraphicUnit ID="50" Width="9" Height="9"><ofd:Content>${pathXml(SQUARE)}</ofd:Content></ofd:CompositeGraphicUnit></ofd:CompositeGraphicUnits>`;

const SPOILT = [
  ...['', '0', '-1', '1e308', '-1e308', 'NaN', 'null', '1 2', '0 0 0 0 0 0', '-5 -5 -5 -5', '1e-300', '99999999999'],
  ...['true', 'g 99999999 1', 'g', '# # #', 'Page', '50', '10', '1e7 1e7', 'M', 'A 0 0 0 0 0 0 0', '1e9 1e9 1e9 1e9'],
];

/** Numbers below `below`, the same on every run. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function spoil(xml: string, next: (below: number) => number): string {
  let spoilt = xml;
  for (let count = 1 + next(6); count > 0; count--) {
    const places = [...spoilt.matchAll(/ \w+="([^"]*)"|>([^<>]+)</g)];
    const place = places[next(places.length)]!;
    const old = place[1] ?? place[2] ?? '';
    const at = place.index + place[0].lastIndexOf(old, place[0].length - 2);
    spoilt = spoilt.slice(0, at) + SPOILT[next(SPOILT.length)]! + spoilt.slice(at + old.length);
  }
  return spoilt;
}

/** What breaks a promise, in words. */
function faults(items: readonly Item[], depth = 0): string[] {
  const found: string[] = depth > 64 ? ['nesting'] : [];
  const finite = (what: string, values: readonly number[]) => {
    if (!values.every(Number.isFinite)) found.push(what);
  };
  const paint = (of: Paint | undefined): void => {
    if (of === undefined) return;
    if (of.kind === 'solid') finite('colour', [...of.color, of.alpha]);
    if (of.kind === 'tiling') found.push(...faults(of.items, depth + 1));
    if (of.kind === 'mesh') {
      finite('mesh', [...of.matrix, ...of.vertices.flatMap(({ x, y, color, alpha }) => [x, y, ...color, alpha])]);
      if (of.triangles.length < 3 || of.triangles.some((index) => of.vertices[index] === undefined)) found.push('mesh');
    }
    if (of.kind === 'axial' || of.kind === 'radial') {
      const offsets = of.stops.map((stop) => stop.offset);
      finite('gradient', [...of.matrix, of.start.x, of.start.y, of.end.x, of.end.y, ...offsets]);
      const rises = offsets.every((offset, index) => offset >= (offsets[index - 1] ?? 0));
      if (!rises || offsets.length < 2 || offsets[0] !== 0 || offsets.at(-1) !== 1) found.push('stops');
    }
  };
  const stroke = (of: Stroke | undefined): void => {
    if (of === undefined) return;
    paint(of.paint);
    finite('pen', [of.widthMm, of.dashOffset, ...of.dash]);
    if (of.widthMm < 0 || of.miterLimit < 1 || of.miterLimit > 100 || of.dash.some((length) => length < 0))
      found.push('pen');
  };
  for (const item of items) {
    finite('matrix', item.matrix);
    for (const clip of item.clips) finite('clip', clip.path.coordinates);
    if (item.kind === 'group') found.push(...faults(item.items, depth + 1));
    if (item.kind === 'image') finite('opacity', [item.alpha]);
    if (item.kind === 'path') {
      finite('path', item.path.coordinates);
      paint(item.fill?.paint);
      stroke(item.stroke);
    }
    if (item.kind === 'glyphs') {
      finite('glyphs', [...item.x, ...item.y, ...item.shape, ...(item.xScale ?? []), item.emboldenMm, item.sizeMm]);
      if (new Set([item.x, item.y, item.characters, item.glyphIds].map((list) => list.length)).size > 1)
        found.push('lengths');
      paint(item.fill);
      stroke(item.stroke);
    }
  }
  return found;
}

describe('spoilt pages', () => {
  it.each(Array.from({ length: 10 }, (_, seed) => seed))('keep the promises (seed %i)', async (seed) => {
    const next = sequence(seed * 7919 + 1);
    const embedded = fakeFace({ name: 'Own', characters: PLENTY });
    for (let round = 0; round < 20; round++) {
      const spec = {
        pages: [spoil(PAGE, next)],
        publicRes: round % 2 === 0 ? RES : spoil(RES, next),
        files: { 'Doc_0/Res/a.png': png(4, 4), 'Doc_0/Res/own.ttf': 'program' },
      };
      try {
        const { document, diagnostics } = await open(spec, { embedded, isSubstitute: true });
        expect(faults(document.page(0).items), spec.pages[0]).toEqual([]);
        expect(diagnostics.map(({ code }) => code)).not.toContain('page_failed');
      } catch (error) {
        if (!(error instanceof OfdError)) throw error;
      }
    }
  });
});
