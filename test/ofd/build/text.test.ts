import { describe, expect, it } from 'vitest';
import { transformPoint } from '../../../src/display/geometry.js';
import type { GlyphRun } from '../../../src/display/list.js';
import { build, extent, type FontsSpec, fakeFace, origins, PLENTY, rounded, runs, textOf } from './support.js';

const LIMITED = { maxCharactersPerPage: 6 };
const GLYPHS = 'CodePosition="0" CodeCount="1" GlyphCount="9"';
const OWN = { embedded: fakeFace({ name: 'Own', characters: PLENTY }) };

function text(codes: string, attributes = ''): string {
  const font = attributes.includes('Font=') ? '' : 'Font="1"';
  const size = attributes.includes('Size=') ? '' : 'Size="4"';
  const boundary = attributes.includes('Boundary=') ? '' : 'Boundary="10 20 100 10"';
  return `<ofd:TextObject ID="3" ${boundary} ${font} ${size} ${attributes}>${codes}</ofd:TextObject>`;
}

function code(characters: string, attributes = 'X="0" Y="0" DeltaX="g 99 4"'): string {
  return `<ofd:TextCode ${attributes}>${characters}</ofd:TextCode>`;
}

function transform(glyphs: string, attributes = 'CodePosition="0"'): string {
  return `<ofd:CGTransform ${attributes}><ofd:Glyphs>${glyphs}</ofd:Glyphs></ofd:CGTransform>`;
}

async function textRuns(xml: string, fonts: FontsSpec = {}): Promise<GlyphRun[]> {
  return runs((await build(xml, {}, fonts)).items);
}

const idOf = (character: string): number => Array.from(PLENTY).indexOf(character) + 1;

describe('places of glyphs', () => {
  it('follow formula (1): CTM first, Boundary last', async () => {
    const [run] = await textRuns(text(code('a', 'X="3" Y="4"'), 'Boundary="10 20 50 10" CTM="2 0 0 2 1 1"'));
    expect(origins(run!)).toEqual([[17, 29]]);
    expect(run!.sizeMm).toBe(4);
    expect(run!.matrix).toEqual([2, 0, 0, 2, 11, 21]);
  });

  it.each([
    ['one step for each but the last', 'X="1" Y="2" DeltaX="3 4"', [11, 14, 18], [22, 22, 22]],
    ['too few: the last goes on', 'X="1" Y="2" DeltaX="3"', [11, 14, 17], [22, 22, 22]],
    ['too many', 'X="1" Y="2" DeltaX="3 4 5 6"', [11, 14, 18], [22, 22, 22]],
    ['down', 'X="1" Y="2" DeltaY="3 4"', [11, 11, 11], [22, 25, 29]],
    ['both ways', 'X="1" Y="2" DeltaX="3 -3" DeltaY="0 5"', [11, 14, 11], [22, 22, 27]],
    ['none: natural advances', 'X="1" Y="2"', [11, 15, 19], [22, 22, 22]],
    ['null and empty are none', 'X="1" Y="2" DeltaX="null" DeltaY=""', [11, 15, 19], [22, 22, 22]],
    ['without X and Y from 0', 'DeltaX="3 4"', [10, 13, 17], [20, 20, 20]],
  ])('%s', async (_, attributes, xs, ys) => {
    const [run] = await textRuns(text(code('abc', attributes)));
    expect(origins(run!)).toEqual(xs.map((x, index) => [x, ys[index]]));
  });

  it('keep X and Y of the TextCode before', async () => {
    const codes = code('ab', 'X="2" Y="5" DeltaX="1"') + code('c', 'Y="9"') + code('a', 'X="7"');
    const found = await textRuns(text(codes));
    expect(found.map(origins)).toEqual([
      [
        [12, 25],
        [13, 25],
      ],
      [[12, 29]],
      [[17, 29]],
    ]);
  });

  it('count controls, which show nothing', async () => {
    const [run] = await textRuns(text(code('a\\0007b', 'X="0" Y="0" DeltaX="1 2"')));
    expect(run!.characters).toEqual(['a', 'b']);
    expect(run!.x).toEqual([0, 3]);
  });

  it.each([0xfffe, 0xffff, 0xfdd0, 0xfdef, 0x1fffe, 0x10ffff, 0xfffb, 0x2066, 0x202e, 0x1b, 0xe0041])(
    'count U+%i, which is no text',
    async (codePoint) => {
      const [run] = await textRuns(text(code(`a${String.fromCodePoint(codePoint)}b`, 'X="0" Y="0" DeltaX="1 2"')));
      expect(run!.characters).toEqual(['a', 'b']);
      expect(run!.x).toEqual([0, 3]);
    },
  );

  it('count halves of pairs, which are no text', async () => {
    const [run] = await textRuns(text(code('a\ud800b', 'X="0" Y="0" DeltaX="1 2"')));
    expect(run!.characters).toEqual(['a', 'b']);
  });

  it('take the default size, and none below 0', async () => {
    const [run] = await textRuns('<ofd:TextObject ID="3" Font="1"><ofd:TextCode>a</ofd:TextCode></ofd:TextObject>');
    expect(run!.sizeMm).toBe(3.528);
    expect(await textRuns(text(code('a'), 'Size="0"'))).toEqual([]);
  });
});

describe('a page', () => {
  it('has no more characters than the limit, those of all its objects counted', async () => {
    const cut = await build(text(code('abc') + code('de')) + text(code('fg')) + text(code('h')), {}, {}, LIMITED);
    expect(runs(cut.items).map((run) => run.characters.join(''))).toEqual(['abc', 'de', 'f']);
    expect(cut.codes).toEqual(['text_cut']);
    const whole = await build(text(code('abc') + code('def')), {}, {}, LIMITED);
    expect(whole.codes).toEqual([]);
  });

  it('has no more glyphs either', async () => {
    const xml = text(transform('1 2 3 4 5 6 7 8 9', GLYPHS) + code('a'), 'Font="2"');
    const cut = await build(xml, {}, OWN, LIMITED);
    expect(runs(cut.items).map(({ glyphIds }) => glyphIds.length)).toEqual([6]);
    expect(cut.codes).toContain('text_cut');
  });

  it('counts a composite each time', async () => {
    const xml = '<ofd:CompositeObject ID="9" Boundary="0 0 10 10" ResourceID="50"/>'.repeat(3);
    const unit = `<ofd:CompositeGraphicUnit ID="50" Width="10" Height="10"><ofd:Content>${text(code('abc'))}</ofd:Content></ofd:CompositeGraphicUnit>`;
    const publicRes = `<ofd:CompositeGraphicUnits>${unit}</ofd:CompositeGraphicUnits>`;
    const { items, codes } = await build(xml, { publicRes }, {}, LIMITED);
    expect(items).toHaveLength(2);
    expect(codes).toContain('text_cut');
  });
});

describe('directions', () => {
  const axis: Record<number, [number, number]> = { 0: [1, 0], 90: [0, 1], 180: [-1, 0], 270: [0, -1] };
  const pairs = [0, 90, 180, 270].flatMap((read) => [0, 90, 180, 270].map((char) => [read, char] as const));

  it.each(pairs)('ReadDirection %i leads the pen, CharDirection %i turns the glyph', async (read, char) => {
    const attributes = `ReadDirection="${read}" CharDirection="${char}"`;
    const [run] = await textRuns(text(code('甲乙', 'X="0" Y="0"'), attributes));
    const [stepX, stepY] = axis[read]!;
    expect([run!.x[1], run!.y[1]].map((v) => rounded(v!))).toEqual([4 * stepX + 0, 4 * stepY + 0]);
    expect(run!.readDirection).toBe(read);
    const [a, b, c, d] = run!.shape;
    const [baseX, baseY] = axis[char]!;
    // The glyph's right is its baseline; its top, up the page at first, is a quarter turn before it.
    expect([a, b].map(rounded)).toEqual([baseX + 0, baseY + 0]);
    expect([-c, -d].map(rounded)).toEqual([baseY + 0, -baseX + 0]);
  });

  it('do not turn stated steps', async () => {
    const [run] = await textRuns(text(code('ab', 'X="0" Y="0" DeltaX="5"'), 'ReadDirection="90" CharDirection="90"'));
    expect([run!.x, run!.y]).toEqual([
      [0, 5],
      [0, 0],
    ]);
  });

  it('give upright characters a full em on their way down', async () => {
    const system = fakeFace({ characters: PLENTY, advance: 600 });
    const [run] = await textRuns(text(code('甲a乙', 'X="0" Y="0"'), 'ReadDirection="90"'), { system });
    expect(run!.y.map(rounded)).toEqual([0, 4, 6.4]);
  });

  it('take negative angles', async () => {
    const [run] = await textRuns(text(code('ab', 'X="0" Y="0"'), 'ReadDirection="-90" CharDirection="450"'));
    expect(run!.readDirection).toBe(270);
    expect(run!.shape.map(rounded)).toEqual([0, 1, -1, 0]);
  });
});

describe('shapes', () => {
  it('stretch by HScale with the natural advance, not with stated steps', async () => {
    const [natural] = await textRuns(text(code('ab', 'X="0" Y="0"'), 'HScale="0.5"'));
    expect(natural!.shape).toEqual([0.5, 0, 0, 1]);
    expect(natural!.x).toEqual([0, 2]);
    const [stated] = await textRuns(text(code('ab', 'X="0" Y="0" DeltaX="4"'), 'HScale="0.5"'));
    expect(stated!.x).toEqual([0, 4]);
  });

  it('lean where the face has no italic: x grows with the height above the baseline', async () => {
    const [run] = await textRuns(text(code('a'), 'Italic="true"'), { needsItalic: true });
    // A point one em up, in the run's space with y down.
    const [a, b, c, d] = run!.shape;
    const top = transformPoint([a, b, c, d, 0, 0], 0, -1);
    expect([rounded(top.x), rounded(top.y)]).toEqual([0.2126, -1]);
    const [own] = await textRuns(text(code('a'), 'Italic="true" Font="2"'), {
      embedded: fakeFace({ characters: PLENTY, isItalic: true }),
    });
    expect(own!.shape).toEqual([1, 0, 0, 1]);
  });

  it('embolden from weight 700 on, finer where larger', async () => {
    const bold = async (attributes: string, fonts: FontsSpec) =>
      rounded((await textRuns(text(code('a'), attributes), fonts))[0]!.emboldenMm);
    expect(await bold('Weight="700" Size="3.2"', { needsBold: true })).toBe(rounded(3.2 / 24));
    expect(await bold('Weight="700" Size="12.7"', { needsBold: true })).toBe(rounded(12.7 / 32));
    expect(await bold('Weight="700" Size="1" CTM="20 0 0 20 0 0"', { needsBold: true })).toBe(rounded(1 / 32));
    expect(await bold('Weight="700" Font="2"', OWN)).toBeGreaterThan(0);
    expect(await bold('Weight="600" Font="2"', OWN)).toBe(0);
    expect(await bold('Weight="700"', {})).toBe(0);
    const heavy = { embedded: fakeFace({ characters: PLENTY, isBold: true }) };
    expect(await bold('Weight="700" Font="2"', heavy)).toBe(0);
  });

  it('say what the document calls their font, where it comes from, and of which object they are', async () => {
    const font = (name: string, file = '') =>
      `<ofd:Fonts><ofd:Font ID="1" FontName="${name}">${file}</ofd:Font></ofd:Fonts>`;
    const xml = text(code('ab'));
    const own = '<ofd:FontFile>own.ttf</ofd:FontFile>';
    const [embedded] = runs(
      (await build(xml, { publicRes: font('宋体', own) }, { embedded: fakeFace({ characters: 'ab' }) })).items,
    );
    expect([embedded!.font, embedded!.objectId]).toEqual([{ name: '宋体', source: 'embedded' }, '3']);
    const [system] = runs((await build(xml, { publicRes: font('宋体') }, { isSubstitute: false })).items);
    expect(system!.font?.source).toBe('system');
    const [substitute] = runs((await build(xml, { publicRes: font('宋体') }, { isSubstitute: true })).items);
    expect(substitute!.font?.source).toBe('substitute');
    const [nameless] = runs((await build(xml.replace('ID="3"', ''), { publicRes: font('') })).items);
    expect(nameless).not.toHaveProperty('font');
    expect(nameless).not.toHaveProperty('objectId');
  });

  it('ask for bold and italic faces', async () => {
    const page = await build(text(code('a'), 'Weight="600" Italic="true"'));
    expect(page.fonts.requests[0]).toMatchObject({ fontName: 'SimSun', bold: true, italic: true, weight: 600 });
  });
});

describe('squeezing of substitutes', () => {
  const wide = { system: fakeFace({ characters: PLENTY, advance: 600 }), isSubstitute: true };

  it('fits a glyph into its step', async () => {
    const [run] = await textRuns(text(code('123', 'X="0" Y="0" DeltaX="2 2"')), wide);
    expect(run!.xScale!.map(rounded)).toEqual([0.8333, 0.8333, 0.8333]);
  });

  it('leaves alone what fits within 5 %, overprints, and a last glyph of another kind', async () => {
    const [run] = await textRuns(text(code('1234', 'X="0" Y="0" DeltaX="2.3 0.1 4"')), wide);
    expect(run!.xScale).toBeUndefined();
  });

  it('gives the last letter of a word the width of the others', async () => {
    const [run] = await textRuns(text(code('abcd a', 'X="0" Y="0" DeltaX="2 2.1 2 4 2"')), wide);
    expect(run!.xScale!.map(rounded)).toEqual([0.8333, 0.8333, 0.8333, 0.8333, 1, 0.8333]);
  });

  it('never narrows wide characters, which are a full em in every face', async () => {
    const fonts = { system: fakeFace({ characters: PLENTY }), isSubstitute: true };
    const [run] = await textRuns(text(code('甲，乙', 'X="0" Y="0" DeltaX="4 2"')), fonts);
    expect(run!.xScale).toBeUndefined();
  });

  it('is for substitutes alone', async () => {
    const [run] = await textRuns(text(code('12', 'X="0" Y="0" DeltaX="2"')), { ...wide, isSubstitute: false });
    expect(run!.xScale).toBeUndefined();
  });
});

describe('paint', () => {
  const RED = '<ofd:FillColor Value="255 0 0"/>';
  const BLUE = '<ofd:StrokeColor Value="0 0 255"/>';

  it('is black fill by default', async () => {
    const [run] = await textRuns(text(code('a')));
    expect(run!.fill).toEqual({ kind: 'solid', color: [0, 0, 0], alpha: 1 });
    expect(run!.stroke).toBeUndefined();
  });

  it('strokes only where Stroke says so', async () => {
    const [plain] = await textRuns(text(BLUE + code('a'), 'LineWidth="1"'));
    expect(plain!.stroke).toBeUndefined();
    const [both] = await textRuns(text(RED + BLUE + code('a'), 'Stroke="true" LineWidth="1"'));
    expect(both!.fill).toMatchObject({ color: [255, 0, 0] });
    expect(both!.stroke).toMatchObject({ widthMm: 1, paint: { color: [0, 0, 255] } });
    const [outline] = await textRuns(text(code('a'), 'Stroke="true" Fill="false"'));
    expect(outline!.fill).toBeUndefined();
    expect(outline!.stroke).toMatchObject({ paint: { color: [0, 0, 0] } });
  });

  it.each([
    ['Fill is false', 'Fill="false"', ''],
    ['Alpha is 0', 'Alpha="0"', ''],
    ['its colour is clear', '', '<ofd:FillColor Value="0 0 0" Alpha="0"/>'],
    ['its matrix flattens it', 'CTM="0 0 0 0 0 0"', ''],
  ])('is left out and the text kept where %s', async (_, attributes, children) => {
    const page = await build(text(children + code('ab'), attributes));
    expect(textOf(page.items)).toBe('ab');
    expect(runs(page.items)[0]).not.toHaveProperty('fill');
    expect(runs(page.items)[0]).not.toHaveProperty('stroke');
  });

  it('and text are gone where Visible is false', async () => {
    expect((await build(text(code('a'), 'Visible="false"'))).items).toEqual([]);
  });

  it('is never cut at Boundary', async () => {
    expect((await textRuns(text(code('a'), 'Boundary="10 20 1 1"')))[0]!.clips).toEqual([]);
  });
});

describe('numbered glyphs', () => {
  it('come from the embedded program, whatever its character map says', async () => {
    const [run] = await textRuns(text(transform('7 8', 'CodeCount="2" GlyphCount="2"') + code('ab'), 'Font="2"'), OWN);
    expect(run!.glyphIds).toEqual([7, 8]);
    expect(run!.characters).toEqual(['a', 'b']);
    expect(run!.face.familyName).toBe('Own');
  });

  it('leave the characters around to the map', async () => {
    const [run] = await textRuns(text(transform('7', 'CodePosition="1"') + code('abc'), 'Font="2"'), OWN);
    expect(run!.glyphIds).toEqual([idOf('a'), 7, idOf('c')]);
  });

  it('may be fewer or more than their characters', async () => {
    const ligature = transform('7', 'CodePosition="0" CodeCount="2" GlyphCount="1"');
    const [joined] = await textRuns(text(ligature + code('abc', 'X="0" Y="0" DeltaX="5 1"'), 'Font="2"'), OWN);
    expect(joined!.glyphIds).toEqual([7, idOf('c')]);
    expect(joined!.characters).toEqual(['ab', 'c']);
    expect(joined!.x).toEqual([0, 5]);
    const parts = transform('7 8', 'CodePosition="0" CodeCount="1" GlyphCount="2"');
    const [split] = await textRuns(text(parts + code('ab', 'X="0" Y="0" DeltaX="1 2"'), 'Font="2"'), OWN);
    expect(split!.glyphIds).toEqual([7, 8, idOf('b')]);
    expect(split!.characters).toEqual(['a', '', 'b']);
    expect(split!.x).toEqual([0, 1, 3]);
  });

  it('are all taken where GlyphCount was forgotten', async () => {
    const [run] = await textRuns(text(transform('7 8 9', 'CodeCount="3"') + code('abc'), 'Font="2"'), OWN);
    expect(run!.glyphIds).toEqual([7, 8, 9]);
  });

  it('fall back to the character where there is no such glyph', async () => {
    const xml = text(transform('0 999', 'CodeCount="2" GlyphCount="2"') + code('ab'), 'Font="2"');
    const [run] = await textRuns(xml, OWN);
    expect(run!.glyphIds).toEqual([idOf('a'), idOf('b')]);
  });

  it('mean nothing in another program', async () => {
    const xml = text(transform('7 8', 'CodeCount="2" GlyphCount="2"') + code('ab'), 'Font="2"');
    const page = await build(xml, {}, { embedded: null });
    expect(runs(page.items)[0]!.glyphIds).toEqual([idOf('a'), idOf('b')]);
    expect(page.codes).toContain('font_unreadable');
  });

  it('of a ligature in another program are its characters, spread over the same way', async () => {
    const xml = text(
      transform('7', 'CodeCount="2" GlyphCount="1"') + code('abc', 'X="0" Y="0" DeltaX="6 1"'),
      'Font="2"',
    );
    const [run] = await textRuns(xml, { embedded: null });
    expect(run!.x).toEqual([0, 3, 6]);
    expect(run!.characters).toEqual(['a', 'b', 'c']);
  });

  it('stand for no character where the text has a placeholder', async () => {
    const [run] = await textRuns(text(transform('7', 'CodePosition="1"') + code('a¤'), 'Font="2"'), OWN);
    expect(run!.glyphIds).toEqual([idOf('a'), 7]);
    expect(run!.characters).toEqual(['a', '']);
    expect(textOf((await build(text(transform('7') + code('¤a'), 'Font="2"'), {}, { embedded: null })).items)).toBe(
      'a',
    );
    expect(textOf((await build(text(code('¤')))).items)).toBe('¤');
  });

  it('count through all TextCodes where all come first', async () => {
    const xml = text(transform('7', 'CodePosition="3"') + code('ab') + code('cd'), 'Font="2"');
    expect((await textRuns(xml, OWN)).map((run) => run.glyphIds)).toEqual([
      [idOf('a'), idOf('b')],
      [idOf('c'), 7],
    ]);
  });

  it('count in the TextCode that follows where they are interleaved', async () => {
    const xml = text(transform('7') + code('ab') + transform('8', 'CodePosition="1"') + code('cd'), 'Font="2"');
    expect((await textRuns(xml, OWN)).map((run) => run.glyphIds)).toEqual([
      [7, idOf('b')],
      [idOf('c'), 8],
    ]);
  });

  it('count through all after all where a position would lie outside', async () => {
    const xml = text(transform('7') + code('ab') + transform('8', 'CodePosition="2"') + code('cd'), 'Font="2"');
    expect((await textRuns(xml, OWN)).map((run) => run.glyphIds)).toEqual([
      [7, idOf('b')],
      [8, idOf('d')],
    ]);
  });
});

describe('faces', () => {
  it('break runs glyph by glyph', async () => {
    const fonts = {
      system: fakeFace({ name: 'First', characters: 'ab' }),
      fallback: fakeFace({ name: 'Second', characters: '甲' }),
    };
    const page = await build(text(code('a甲b')), {}, fonts);
    expect(runs(page.items).map((run) => [run.face.familyName, run.characters.join('')])).toEqual([
      ['First', 'a'],
      ['Second', '甲'],
      ['First', 'b'],
    ]);
    expect(page.diagnostics).toMatchObject([{ code: 'glyph_substituted', characters: '甲', page: 1 }]);
  });

  it('that stand in are told of once a document, with the names', async () => {
    const xml = text(code('ab'));
    const page = await build('', { pages: [xml + xml, xml] }, { isSubstitute: true });
    page.document.page(1);
    expect(page.diagnostics).toHaveLength(1);
    expect(page.diagnostics[0]).toMatchObject({ code: 'font_substituted', characters: 'ab', page: 1 });
    expect(page.diagnostics[0]!.message).toMatch(/SimSun.*Squares/);
  });

  it('that all lack a character leave it unpainted, told of for each page', async () => {
    const xml = text(code('a好b'));
    const page = await build('', { pages: [xml, xml] });
    page.document.page(1);
    const [, missing] = runs(page.items);
    expect(missing).toMatchObject({ glyphIds: [0], characters: ['好'], x: [4] });
    expect(missing).not.toHaveProperty('fill');
    expect(page.diagnostics.map(({ code, characters, page: at }) => [code, characters, at])).toEqual([
      ['glyph_missing', '好', 1],
      ['glyph_missing', '好', 2],
    ]);
  });

  it('are not there at all: the text is still found', async () => {
    const page = await build(text(code('甲乙')), {}, { system: null });
    expect(textOf(page.items)).toBe('甲乙');
    expect(page.codes).toEqual(['glyph_missing']);
  });

  it('of the system serve where the embedded one has no character map', async () => {
    const embedded = fakeFace({ name: 'Own', glyphCount: 5 });
    const page = await build(text(code('甲 '), 'Font="2"'), {}, { embedded });
    expect(runs(page.items)[0]!.face.familyName).toBe('Squares');
    expect(textOf(page.items)).toBe('甲| ');
    expect(runs(page.items)[1]).not.toHaveProperty('fill');
  });

  it('of the system serve letters whose embedded outline is empty, unless all are', async () => {
    const gap = { embedded: fakeFace({ name: 'Own', characters: 'ab', empty: 'b' }) };
    const found = await textRuns(text(code('ab'), 'Font="2"'), gap);
    expect(found.map((run) => run.face.familyName)).toEqual(['Own', 'Squares']);
    const invisible = { embedded: fakeFace({ name: 'Own', characters: 'ab', empty: 'ab' }) };
    expect((await textRuns(text(code('ab'), 'Font="2"'), invisible)).map((run) => run.face.familyName)).toEqual([
      'Own',
    ]);
  });

  it('give blanks any glyph without ink, so that they break no run', async () => {
    const [run, ...more] = await textRuns(text(code('a　b')));
    expect(more).toEqual([]);
    expect(run!.glyphIds).toEqual([idOf('a'), idOf(' '), idOf('b')]);
  });

  it('are looked for where the font is not defined', async () => {
    const page = await build(text(code('a'), 'Font="99"'));
    expect(textOf(page.items)).toBe('a');
    expect(page.codes).toEqual(['reference_missing']);
  });
});

describe('text as a clip', () => {
  it('is the union of its outlines', async () => {
    const clip =
      '<ofd:Clips TransFlag="false"><ofd:Clip><ofd:Area><ofd:Text Boundary="1 2 9 9" Font="1" Size="10">' +
      '<ofd:TextCode X="0" Y="10" DeltaX="10">ab</ofd:TextCode></ofd:Text></ofd:Area></ofd:Clip></ofd:Clips>';
    const page = await build(text(clip + code('a')));
    const [first] = runs(page.items)[0]!.clips;
    // Squares of 8 mm on the baseline at y 20 + 2 + 10, from x 10 + 1.
    expect(extent(first!.path)).toEqual([11, 24, 29, 32]);
  });
});
