/** A content stream being written: its operators, the graphics state they leave behind, and the resources they name. */
import { IDENTITY, type Matrix, meanScale, multiply } from '../../display/geometry.js';
import type { BlendMode } from '../../display/list.js';
import type { Color } from '../../display/paint.js';
import { MM_PER_INCH, POINTS_PER_INCH } from '../../display/units.js';
import { coordinateDecimals, formatFactor, formatMatrix, formatNumber } from './number.js';
import type { PDFObject, Reference } from './pdf-lib.js';
import type { StateTable } from './state-table.js';

/** Categories of a resource dictionary, with the letters that our names begin with. */
const PREFIXES = { Font: 'F', XObject: 'X', ExtGState: 'G', Pattern: 'P', Shading: 'S' } as const;
export type ResourceCategory = keyof typeof PREFIXES;

/** Steps of 1/10 of what eight bits can tell. */
const COLOR_DECIMALS = 4;

export class Resources {
  readonly #byCategory = new Map<ResourceCategory, Map<string, Reference>>();

  /** The name of `reference` in content, with its slash. */
  nameOf(category: ResourceCategory, reference: Reference): string {
    const name = `${PREFIXES[category]}${reference.objectNumber}`;
    const names = this.#byCategory.get(category);
    if (names) names.set(name, reference);
    else this.#byCategory.set(category, new Map([[name, reference]]));
    return `/${name}`;
  }

  /** The entries of the resource dictionary. */
  toEntries(): Record<string, Record<string, PDFObject>> {
    const entries: Record<string, Record<string, PDFObject>> = {};
    for (const [category, names] of this.#byCategory) entries[category] = Object.fromEntries(names);
    return entries;
  }
}

/** Values as last written; undefined where the stream does not know what it was begun with. */
interface GraphicsState {
  /** Current space → the space that the stream begins in. */
  matrix: Matrix;
  decimals: number;
  fillColor: string | undefined;
  strokeColor: string | undefined;
  lineWidth: string | undefined;
  lineCap: string | undefined;
  lineJoin: string | undefined;
  miterLimit: string | undefined;
  dash: string | undefined;
  font: string | undefined;
  textMode: string | undefined;
  horizontalScale: string | undefined;
  characterSpacing: string | undefined;
  fillAlpha: number;
  strokeAlpha: number;
  blendMode: BlendMode;
}

type Operand = {
  [K in keyof GraphicsState]: string | undefined extends GraphicsState[K] ? K : never;
}[keyof GraphicsState];

type Operands = Pick<GraphicsState, Operand>;

const UNKNOWN_OPERANDS: Operands = {
  fillColor: undefined,
  strokeColor: undefined,
  lineWidth: undefined,
  lineCap: undefined,
  lineJoin: undefined,
  miterLimit: undefined,
  dash: undefined,
  font: undefined,
  textMode: undefined,
  horizontalScale: undefined,
  characterSpacing: undefined,
};

const PAGE_OPERANDS: Operands = {
  fillColor: '0 g',
  strokeColor: '0 G',
  lineWidth: '1 w',
  lineCap: '0 J',
  lineJoin: '0 j',
  miterLimit: '10 M',
  dash: '[] 0 d',
  font: undefined,
  textMode: '0 Tr',
  horizontalScale: '100 Tz',
  characterSpacing: '0 Tc',
};

export class ContentStream {
  readonly resources = new Resources();
  /** Whether anything in it needs a transparency model. */
  usesTransparency = false;
  /** Most graphics states that were saved at one time. */
  deepestSave = 0;
  readonly #states: StateTable;
  readonly #unitMm: number;
  #text = '';
  #state: GraphicsState;
  readonly #saved: GraphicsState[] = [];

  /**
   * @param unitMm size in millimetres of one unit of the stream's first space
   * @param begins 'page': with the values that PDF gives every page; 'anywhere': with those of whoever paints it
   */
  constructor(states: StateTable, unitMm: number, begins: 'page' | 'anywhere' = 'anywhere') {
    this.#states = states;
    this.#unitMm = unitMm;
    this.#state = {
      ...(begins === 'page' ? PAGE_OPERANDS : UNKNOWN_OPERANDS),
      matrix: IDENTITY,
      decimals: coordinateDecimals(unitMm),
      fillAlpha: 1,
      strokeAlpha: 1,
      blendMode: 'normal',
    };
  }

  /** Current space → the space that the stream begins in: what a pattern's matrix is relative to. */
  get matrix(): Matrix {
    return this.#state.matrix;
  }

  /** Decimals for coordinates of the current space. */
  get decimals(): number {
    return this.#state.decimals;
  }

  /** Size in millimetres of one unit of the current space, as a mean. */
  get unitMm(): number {
    return this.#unitMm * meanScale(this.#state.matrix);
  }

  toBytes(): Buffer {
    return Buffer.from(this.#text, 'latin1');
  }

  /** Appends operators as they are (each char one byte); the caller ends them with a line feed. */
  write(operators: string): void {
    this.#text += operators;
  }

  save(): void {
    this.#saved.push({ ...this.#state });
    this.deepestSave = Math.max(this.deepestSave, this.#saved.length);
    this.#text += 'q\n';
  }

  restore(): void {
    this.#state = this.#saved.pop() ?? this.#state;
    this.#text += 'Q\n';
  }

  concat(matrix: Matrix): void {
    this.#text += `${formatMatrix(matrix, this.decimals)} cm\n`;
    this.#state.matrix = multiply(this.#state.matrix, matrix);
    this.#state.decimals = coordinateDecimals(this.unitMm);
  }

  setFillColor(color: Color): void {
    this.#set('fillColor', colorOperator(color, 'g', 'rg'));
  }

  setStrokeColor(color: Color): void {
    this.#set('strokeColor', colorOperator(color, 'G', 'RG'));
  }

  setFillPattern(pattern: Reference): void {
    this.#set('fillColor', `/Pattern cs ${this.resources.nameOf('Pattern', pattern)} scn`);
  }

  setStrokePattern(pattern: Reference): void {
    this.#set('strokeColor', `/Pattern CS ${this.resources.nameOf('Pattern', pattern)} SCN`);
  }

  setFillAlpha(alpha: number): void {
    if (this.#state.fillAlpha === alpha) return;
    this.#state.fillAlpha = alpha;
    this.setExtendedState(this.#states.fillAlpha(alpha));
  }

  setStrokeAlpha(alpha: number): void {
    if (this.#state.strokeAlpha === alpha) return;
    this.#state.strokeAlpha = alpha;
    this.setExtendedState(this.#states.strokeAlpha(alpha));
  }

  setBlendMode(mode: BlendMode): void {
    if (this.#state.blendMode === mode) return;
    this.#state.blendMode = mode;
    this.setExtendedState(this.#states.blendMode(mode));
  }

  /** Sets a state that is not followed here; put it between `save` and `restore`. */
  setExtendedState(reference: Reference): void {
    this.usesTransparency = true;
    this.#text += `${this.resources.nameOf('ExtGState', reference)} gs\n`;
  }

  setLineWidth(width: number): void {
    this.#set('lineWidth', `${formatFactor(width)} w`);
  }

  setLineCap(cap: 0 | 1 | 2): void {
    this.#set('lineCap', `${cap} J`);
  }

  setLineJoin(join: 0 | 1 | 2): void {
    this.#set('lineJoin', `${join} j`);
  }

  setMiterLimit(limit: number): void {
    this.#set('miterLimit', `${formatFactor(limit)} M`);
  }

  setDash(lengths: readonly number[], offset: number): void {
    this.#set('dash', `[${lengths.map(formatFactor).join(' ')}] ${formatFactor(offset)} d`);
  }

  setFont(font: Reference, size: number): void {
    this.#set('font', `${this.resources.nameOf('Font', font)} ${formatFactor(size)} Tf`);
  }

  setTextMode(mode: 0 | 1 | 2 | 3): void {
    this.#set('textMode', `${mode} Tr`);
  }

  /** `percent` as `Tz` takes it. */
  setHorizontalScale(percent: number): void {
    this.#set('horizontalScale', `${formatFactor(percent)} Tz`);
  }

  /** Added after every glyph, in units of text space before the horizontal scale. */
  setCharacterSpacing(spacing: number): void {
    this.#set('characterSpacing', `${formatFactor(spacing)} Tc`);
  }

  paintObject(object: Reference): void {
    this.#text += `${this.resources.nameOf('XObject', object)} Do\n`;
  }

  #set(key: Operand, operators: string): void {
    if (this.#state[key] === operators) return;
    this.#state[key] = operators;
    this.#text += `${operators}\n`;
  }
}

/** Size in millimetres of a point, the unit of a page's first space. */
export const POINT_MM = MM_PER_INCH / POINTS_PER_INCH;

function colorOperator([red, green, blue]: Color, grayOperator: string, rgbOperator: string): string {
  const r = formatNumber(red / 255, COLOR_DECIMALS);
  if (red === green && green === blue) return `${r} ${grayOperator}`;
  return `${r} ${formatNumber(green / 255, COLOR_DECIMALS)} ${formatNumber(blue / 255, COLOR_DECIMALS)} ${rgbOperator}`;
}
