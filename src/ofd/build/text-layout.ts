/** From a TextObject to runs of glyphs at their places, in the space of the object. */
import type { Matrix } from '../../display/geometry.js';
import { meanScale, multiply } from '../../display/geometry.js';
import type { XmlElement } from '../xml.js';
import { isBlank, isInkless, isWide } from './character.js';
import type { PageState, Space } from './context.js';
import type { FontVariant, FoundGlyph, StyledFace } from './font.js';
import { codeUnits, type GlyphTransform, parseDeltas, readTransform } from './text-code.js';

/** 10 points: for text whose producer forgot the size. */
const DEFAULT_SIZE_MM = 3.528;
/** No glyph is larger than a great many sheets. */
const MAX_SIZE_MM = 1e6;
const MAX_COORDINATE_MM = 1e6;
/** Glyphs are stretched no further than this. */
const MAX_H_SCALE = 1000;
/** A glyph may be this much too wide before it is squeezed. */
const SQUEEZE_FROM = 1.05;
/** Steps shorter than this part of the advance are an overprint, not a narrow face. */
const OVERPRINT_BELOW = 0.2;
/** Tangent of the 12° that a face without italics is slanted by. */
const SLANT = 0.2126;
const PLACEHOLDER = '¤';

/** Glyphs of one face. */
export interface TextRun {
  readonly styled: StyledFace;
  /** Whether there is anything to paint: false for characters that no face has. */
  readonly hasGlyphs: boolean;
  readonly glyphIds: number[];
  readonly x: number[];
  readonly y: number[];
  /** Filled up to the last glyph that is not of full width; the rest are 1. */
  readonly xScale: number[];
  readonly characters: string[];
}

export interface TextLayout {
  readonly sizeMm: number;
  readonly hScale: number;
  /** Degrees clockwise, 0 up to 360. */
  readonly readDirection: number;
  readonly charDirection: number;
  readonly runs: readonly TextRun[];
}

/** Lays out all TextCodes of a TextObject (or of a clip's Text); undefined where it has no size. */
export function layOutText(element: XmlElement, space: Space): TextLayout | undefined {
  const sizeMm = element.number('Size') ?? DEFAULT_SIZE_MM;
  if (sizeMm <= 0 || sizeMm > MAX_SIZE_MM) {
    space.page.report('object_invalid', `Text of size "${element.attribute('Size')}" is left out`, element);
    return undefined;
  }
  const font = space.document.fonts.find(element.id('Font'), space.resources);
  const variant = font.variant({
    weight: element.integer('Weight') ?? 400,
    isItalic: element.boolean('Italic') ?? false,
  });
  const charDirection = degrees(element.number('CharDirection'));
  const readDirection = degrees(element.number('ReadDirection'));
  const setter = new TypeSetter(space, variant, {
    sizeMm,
    hScale: stretch(element.number('HScale')),
    readAxis: axisOf(readDirection),
    charAxis: axisOf(charDirection),
  });
  layOutCodes(element, setter, space.page);
  return { sizeMm, hScale: setter.metrics.hScale, readDirection, charDirection, runs: setter.runs };
}

function stretch(hScale: number | undefined): number {
  return hScale !== undefined && hScale !== 0 && Math.abs(hScale) <= MAX_H_SCALE ? hScale : 1;
}

/** Runs the TextCodes through the setter, each with the transforms that are its own. */
function layOutCodes(element: XmlElement, setter: TypeSetter, page: PageState): void {
  const codes: XmlElement[] = [];
  const written: { readonly transform: GlyphTransform; readonly code: number }[] = [];
  for (const child of element.children) {
    if (child.name === 'TextCode') codes.push(child);
    else if (child.name === 'CGTransform') {
      const transform = readTransform(child);
      if (transform !== undefined) written.push({ transform, code: codes.length });
    }
  }
  const texts = codes.map(({ text }) => text.slice(0, page.takeCharacters(text.length)));
  const transforms = written.map(({ transform, code }) => ({ transform: counted(transform, page), code }));
  const glyphCount = transforms.reduce((sum, { transform }) => sum + transform.glyphs.length, 0);
  const lines = codes.map((code, index) => readCode(code, texts[index]!, glyphCount));
  const isLocal =
    transforms.some(({ code }) => code > 0) &&
    codes.length > 1 &&
    transforms.every(({ transform, code }) => transform.position < (lines[code] ?? lines[code - 1])!.units.length);
  let first = 0;
  lines.forEach((line, index) => {
    const own = new Map<number, GlyphTransform>();
    for (const { transform, code } of transforms) {
      if (!isLocal) own.set(transform.position - first, transform);
      else if (Math.min(code, codes.length - 1) === index) own.set(transform.position, transform);
    }
    setter.set(line, own);
    first += line.units.length;
  });
}

/** Glyphs beyond the characters that they stand for count as characters too, and are cut where the page has too many. */
function counted(transform: GlyphTransform, page: PageState): GlyphTransform {
  const { glyphs, codeCount } = transform;
  const more = Math.max(0, glyphs.length - codeCount);
  const taken = page.takeCharacters(more);
  return taken === more ? transform : { ...transform, glyphs: glyphs.slice(0, codeCount + taken) };
}

interface CodeLine {
  readonly units: readonly string[];
  readonly x: number | undefined;
  readonly y: number | undefined;
  readonly deltaX: readonly number[];
  readonly deltaY: readonly number[];
}

function readCode(code: XmlElement, text: string, glyphCount: number): CodeLine {
  const most = text.length + glyphCount + 1;
  const deltaX = parseDeltas(code.attribute('DeltaX'), most);
  const deltaY = parseDeltas(code.attribute('DeltaY'), most);
  const units = codeUnits(text, Math.max(deltaX.length, deltaY.length));
  return { units, x: coordinate(code.number('X')), y: coordinate(code.number('Y')), deltaX, deltaY };
}

/** A coordinate that can lie on some sheet; others count as absent. */
function coordinate(value: number | undefined): number | undefined {
  return value !== undefined && Math.abs(value) <= MAX_COORDINATE_MM ? value : undefined;
}

interface TextMetrics {
  readonly sizeMm: number;
  readonly hScale: number;
  /** Unit vectors in object space: the way of reading, and the glyphs' own baseline. */
  readonly readAxis: readonly [number, number];
  readonly charAxis: readonly [number, number];
}

/** A glyph of a substitute that may be squeezed: its place in a run, and what it keeps of its width. */
interface NarrowGlyph {
  readonly run: TextRun;
  readonly index: number;
  readonly scale: number;
}

/** Sets line after line, keeping the pen and the run that is open. */
class TypeSetter {
  readonly runs: TextRun[] = [];
  readonly metrics: TextMetrics;
  #narrow: NarrowGlyph[] = [];
  readonly #space: Space;
  readonly #variant: FontVariant;
  #run: TextRun | undefined;
  #lineX = 0;
  #lineY = 0;
  #x = 0;
  #y = 0;
  #line: CodeLine | undefined;
  /** Glyphs of the line set so far: the next step's index. */
  #count = 0;
  #lastAdvance = 0;

  constructor(space: Space, variant: FontVariant, metrics: TextMetrics) {
    this.#space = space;
    this.#variant = variant;
    this.metrics = metrics;
  }

  /** Sets one TextCode; it starts a run of its own. */
  set(line: CodeLine, transforms: ReadonlyMap<number, GlyphTransform>): void {
    this.#run = undefined;
    this.#line = line;
    this.#count = 0;
    this.#x = this.#lineX = line.x ?? this.#lineX;
    this.#y = this.#lineY = line.y ?? this.#lineY;
    const { units } = line;
    const hasTransforms = transforms.size > 0;
    for (let i = 0; i < units.length; ) {
      const transform = hasTransforms ? transforms.get(i) : undefined;
      if (transform === undefined) {
        this.#setCharacter(units[i]!, i === units.length - 1);
        i++;
      } else {
        this.#setTransformed(transform, units.slice(i, i + transform.codeCount));
        i += transform.codeCount;
      }
    }
    if (this.#narrow.length > 0) evenOut(this.#narrow);
    this.#narrow = [];
  }

  #setCharacter(character: string, isLast: boolean): void {
    const codePoint = character.codePointAt(0);
    if (codePoint === undefined || isInkless(codePoint)) {
      this.#step(undefined, 0);
      return;
    }
    const glyph = this.#variant.character(codePoint);
    if (glyph === undefined) this.#addMissing(character, codePoint);
    else {
      if (glyph.styled.isFallback || glyph.styled.isSubstitute) this.#noteFace(glyph.styled, character, codePoint);
      this.#add(glyph, character);
      if (glyph.styled.isSubstitute) this.#squeeze(glyph, codePoint, isLast);
    }
    this.#step(glyph, codePoint);
  }

  #noteFace({ isFallback, face }: StyledFace, character: string, codePoint: number): void {
    if (isBlank(codePoint)) return;
    if (isFallback) this.#space.page.fonts.fallback(this.#variant, face, character);
    else this.#space.page.fonts.substitute(this.#variant, character);
  }

  #setTransformed(transform: GlyphTransform, units: readonly string[]): void {
    const { glyphs } = transform;
    if (units.length === glyphs.length) {
      for (let i = 0; i < glyphs.length; i++) this.#setPair(glyphs[i]!, units[i]!, i === glyphs.length - 1);
      return;
    }
    const found = glyphs.map((value) => this.#variant.transformed(value, undefined));
    if (found.some((glyph) => glyph !== undefined)) {
      found.forEach((glyph, index) => {
        const characters = index === 0 ? textOf(units) : '';
        if (glyph !== undefined) this.#add(glyph, characters);
        else if (characters !== '') this.#addUnpainted(characters);
        this.#step(glyph, 0);
      });
      return;
    }
    this.#spread(units, glyphs.length);
  }

  /** One character and the glyph that stands for it. */
  #setPair(value: number, character: string, isLast: boolean): void {
    const codePoint = character.codePointAt(0);
    const glyph = this.#variant.transformed(value, codePoint);
    if (glyph === undefined) {
      if (character === PLACEHOLDER) this.#step(undefined, 0);
      else this.#setCharacter(character, isLast);
      return;
    }
    this.#add(glyph, textOf([character]));
    this.#step(glyph, codePoint ?? 0);
  }

  /** Characters of a group whose glyphs cannot be had: evenly over the way that the glyphs would have gone. */
  #spread(units: readonly string[], glyphCount: number): void {
    const { deltaX, deltaY } = this.#line!;
    if (deltaX.length === 0 && deltaY.length === 0) {
      for (const unit of units) this.#setCharacter(unit, false);
      return;
    }
    const startX = this.#x;
    const startY = this.#y;
    for (let i = 0; i < glyphCount; i++) this.#step(undefined, 0);
    const endX = this.#x;
    const endY = this.#y;
    const endCount = this.#count;
    units.forEach((unit, index) => {
      this.#x = startX + ((endX - startX) * index) / units.length;
      this.#y = startY + ((endY - startY) * index) / units.length;
      this.#setCharacter(unit, false);
    });
    this.#x = endX;
    this.#y = endY;
    this.#count = endCount;
  }

  #addMissing(character: string, codePoint: number): void {
    if (!isBlank(codePoint)) this.#space.page.fonts.missing(this.#variant, character);
    this.#addUnpainted(character);
  }

  #addUnpainted(characters: string): void {
    this.#addTo(this.#variant.anyFace, false, 0, characters);
  }

  #add(glyph: FoundGlyph, characters: string): void {
    this.#addTo(glyph.styled, true, glyph.glyphId, characters);
  }

  #addTo(styled: StyledFace, hasGlyphs: boolean, glyphId: number, characters: string): void {
    let run = this.#run;
    if (run === undefined || run.styled !== styled || run.hasGlyphs !== hasGlyphs) {
      run = { styled, hasGlyphs, glyphIds: [], x: [], y: [], xScale: [], characters: [] };
      this.#run = run;
      this.runs.push(run);
    }
    run.glyphIds.push(glyphId);
    run.x.push(this.#x);
    run.y.push(this.#y);
    run.characters.push(characters);
  }

  /**
   * Notes how much of its width the substitute's glyph just added may keep, so that it does not run into the next one.
   * A wide character is set on a full em in any face: a short step after one is the producer's wish.
   */
  #squeeze(glyph: FoundGlyph, codePoint: number, isLast: boolean): void {
    const { deltaX, deltaY } = this.#line!;
    const known = Math.max(deltaX.length, deltaY.length);
    if (known === 0 || isBlank(codePoint) || (isWide(codePoint) && glyph.advanceEm < SQUEEZE_FROM)) return;
    const advance = this.#advance(glyph);
    // After the last glyph no step is stated: the one before counts if that glyph was of the same kind.
    const isUnstated = isLast && this.#count >= known;
    if (isUnstated && Math.abs(advance - this.#lastAdvance) > 0.15 * advance) return;
    const { charAxis } = this.metrics;
    const step = deltaAt(deltaX, this.#count) * charAxis[0] + deltaAt(deltaY, this.#count) * charAxis[1];
    if (step <= OVERPRINT_BELOW * advance) return;
    const run = this.#run!;
    const scale = advance > SQUEEZE_FROM * step ? step / advance : 1;
    this.#narrow.push({ run, index: run.glyphIds.length - 1, scale });
  }

  #advance(glyph: FoundGlyph): number {
    return glyph.advanceEm * this.metrics.sizeMm * Math.abs(this.metrics.hScale);
  }

  /** Moves the pen past a glyph: by the steps stated, else by its advance in the direction of reading. */
  #step(glyph: FoundGlyph | undefined, codePoint: number): void {
    const { deltaX, deltaY } = this.#line!;
    const advance = glyph === undefined ? 0 : this.#advance(glyph);
    if (deltaX.length === 0 && deltaY.length === 0) {
      const { readAxis, charAxis, sizeMm } = this.metrics;
      const isAcross = Math.abs(readAxis[0] * charAxis[0] + readAxis[1] * charAxis[1]) < 0.5;
      const natural = glyph === undefined ? this.#missingAdvance(codePoint) : advance;
      const way = isAcross && isWide(codePoint) ? sizeMm : natural;
      this.#x += way * readAxis[0];
      this.#y += way * readAxis[1];
    } else {
      this.#x += deltaAt(deltaX, this.#count);
      this.#y += deltaAt(deltaY, this.#count);
    }
    this.#lastAdvance = advance;
    this.#count++;
  }

  #missingAdvance(codePoint: number): number {
    if (codePoint === 0) return 0;
    return this.metrics.sizeMm * (isWide(codePoint) ? 1 : 0.5) * Math.abs(this.metrics.hScale);
  }
}

/**
 * Writes the squeezes of a line into its runs. Where most glyphs are squeezed, those with room (the last of a word, whose
 * step holds the blank) follow, or a word would end in a letter of another width.
 */
function evenOut(glyphs: readonly NarrowGlyph[]): void {
  const squeezed = glyphs.map(({ scale }) => scale).filter((scale) => scale < 1);
  if (squeezed.length === 0) return;
  const median = squeezed.sort((a, b) => a - b)[squeezed.length >> 1]!;
  const most = 2 * squeezed.length > glyphs.length ? median : 1;
  for (const { run, index, scale } of glyphs) {
    if (Math.min(scale, most) === 1) continue;
    while (run.xScale.length < index) run.xScale.push(1);
    run.xScale[index] = Math.min(scale, most);
  }
}

/** The step after glyph `index`; a list that is too short goes on with its last value. */
function deltaAt(deltas: readonly number[], index: number): number {
  return deltas[Math.min(index, deltas.length - 1)] ?? 0;
}

/** What extraction gets for characters that a glyph stands for: nothing for placeholders and controls. */
function textOf(units: readonly string[]): string {
  return units.filter((unit) => unit !== PLACEHOLDER && unit !== '' && !isInkless(unit.codePointAt(0)!)).join('');
}

function degrees(angle: number | undefined): number {
  return (((angle ?? 0) % 360) + 360) % 360;
}

/** Unit vector of an angle, exact for quarter turns. */
function axisOf(angle: number): readonly [number, number] {
  switch (angle) {
    case 0:
      return [1, 0];
    case 90:
      return [0, 1];
    case 180:
      return [-1, 0];
    case 270:
      return [0, -1];
    default:
      return [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
  }
}

/** The linear part that a face's glyphs share: R(CharDirection) · S(HScale, 1) · slant. */
export function shapeOf(layout: TextLayout, styled: StyledFace): readonly [number, number, number, number] {
  const [cos, sin] = axisOf(layout.charDirection);
  const slant = styled.slants ? -SLANT * layout.hScale : 0;
  return [cos * layout.hScale, sin * layout.hScale, cos * slant - sin, sin * slant + cos];
}

/** Pen width of synthetic bold in the object's space: finer the larger the text comes out on the page. */
export function emboldenWidth(layout: TextLayout, styled: StyledFace, matrix: Matrix, toPage: Matrix): number {
  if (!styled.emboldens) return 0;
  const effective = layout.sizeMm * meanScale(multiply(toPage, matrix));
  const ratio = Math.min(Math.max((effective - 3.2) / (12.7 - 3.2), 0), 1);
  return layout.sizeMm * (1 / 24 + ratio * (1 / 32 - 1 / 24));
}
