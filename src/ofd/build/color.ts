/** CT_Color without its shadings: values, palettes and colour spaces to sRGB. */

import type { Diagnostic } from '../../display/list.js';
import type { Color } from '../../display/paint.js';
import type { DocumentBody } from '../document.js';
import { type ProfileTransform, readProfile } from '../icc.js';
import { resolveResource } from '../location.js';
import type { Resource, ResourceTable } from '../resources.js';
import type { XmlElement } from '../xml.js';

type SpaceType = 'GRAY' | 'RGB' | 'CMYK';

export interface ColorSpace {
  readonly type: SpaceType;
  /** Greatest value of a channel: 2^BitsPerComponent − 1. */
  readonly maximum: number;
  /** `Palette/CV`, as written. */
  readonly palette: readonly string[];
  /** What the colours look like by the space's own profile; undefined where it has none that can be used. */
  readonly transform?: ProfileTransform;
}

const CHANNELS: Readonly<Record<SpaceType, number>> = { GRAY: 1, RGB: 3, CMYK: 4 };
const SPACE_OF_COUNT: Readonly<Record<number, SpaceType>> = { 1: 'GRAY', 3: 'RGB', 4: 'CMYK' };
const DEFAULT_SPACE: ColorSpace = { type: 'RGB', maximum: 255, palette: [] };

/** Colours kept by their values; a document that uses more has pictures made of paths. */
const MAX_COLORS = 4096;

/** Colour spaces of a document's resources, each read once, and the colours in them. */
export class ColorSpaces {
  readonly #body: DocumentBody;
  readonly #report: (diagnostic: Diagnostic) => void;
  readonly #spaces = new WeakMap<XmlElement, ColorSpace>();
  readonly #colors = new WeakMap<ColorSpace, Map<string, Color | undefined>>();

  /** `report` is for findings about the document, each told once. */
  constructor(body: DocumentBody, report: (diagnostic: Diagnostic) => void) {
    this.#body = body;
    this.#report = report;
  }

  /** The space of a colour: that of its own reference, else the document's default, else RGB of 8 bits. */
  find(id: string | undefined, resources: ResourceTable): ColorSpace {
    const resource = this.#resource(id, resources) ?? this.#resource(this.#body.defaultColorSpace, resources);
    if (resource === undefined) return DEFAULT_SPACE;
    let space = this.#spaces.get(resource.element);
    if (space === undefined) {
      space = readColorSpace(resource.element);
      const written = resource.element.attribute('Type')?.trim() ?? '';
      if (written.toUpperCase() !== space.type) {
        const message = `Colour space ${resource.element.id('ID') ?? ''} is of the type "${written}", which is not known; it is read as RGB`;
        this.#report({ code: 'unsupported', message, part: resource.part });
      }
      const transform = this.#profile(resource, space.type);
      if (transform !== undefined) space = { ...space, transform };
      this.#spaces.set(resource.element, space);
    }
    return space;
  }

  /** The colour of channel values as written; undefined where they are of no number that a space has. */
  color(value: string, space: ColorSpace): Color | undefined {
    let colors = this.#colors.get(space);
    if (colors === undefined || colors.size >= MAX_COLORS) {
      colors = new Map();
      this.#colors.set(space, colors);
    }
    if (!colors.has(value)) colors.set(value, colorOfValue(value, space));
    return colors.get(value);
  }

  /** What stands for a colour that makes no sense, which is told. */
  replace(what: string, space: ColorSpace): Color {
    const message = `A colour with ${what} is no colour of ${space.type}; the default is taken`;
    this.#report({ code: 'paint_invalid', message, part: this.#body.part });
    return zeroColor(space);
  }

  #resource(id: string | undefined, resources: ResourceTable): Resource | undefined {
    const resource = id === undefined ? undefined : resources.find('colorSpace', id);
    if (id !== undefined && resource === undefined) {
      const message = `Colour space ${id} is not defined; the number of values decides`;
      this.#report({ code: 'reference_missing', message, part: this.#body.part });
    }
    return resource;
  }

  #profile({ element, part, baseLoc }: Resource, type: SpaceType): ProfileTransform | undefined {
    const location = element.attribute('Profile')?.trim();
    if (!location) return undefined;
    const { pkg, folder } = this.#body;
    const path = resolveResource(pkg, location, part, baseLoc, folder);
    const bytes = path === undefined ? undefined : pkg.bytes(path);
    const profile = bytes === undefined ? { fault: 'the package does not have it' } : readProfile(bytes, type);
    if (!('fault' in profile)) return profile;
    const message = `The colour profile ${path ?? location} is not used: ${profile.fault}`;
    this.#report({ code: 'profile_ignored', message, part: path ?? location });
    return undefined;
  }
}

function readColorSpace(element: XmlElement): ColorSpace {
  const type = element.attribute('Type')?.trim().toUpperCase() ?? '';
  const bits = element.integer('BitsPerComponent') ?? 8;
  return {
    type: type === 'GRAY' || type === 'CMYK' ? type : 'RGB',
    maximum: 2 ** (bits >= 1 && bits <= 16 ? bits : 8) - 1,
    palette:
      element
        .child('Palette')
        ?.childrenNamed('CV')
        .map((value) => value.text) ?? [],
  };
}

/** The plain colour of a CT_Color (shadings and opacity aside). */
export function plainColor(element: XmlElement, resources: ResourceTable, spaces: ColorSpaces): Color {
  const space = spaces.find(element.id('ColorSpace'), resources);
  const value = element.attribute('Value')?.trim();
  if (value) return spaces.color(value, space) ?? spaces.replace(`Value "${value}"`, space);
  const index = element.integer('Index');
  if (index === undefined) return zeroColor(space);
  const entry = space.palette[index];
  const color = entry === undefined ? undefined : spaces.color(entry.trim(), space);
  return color ?? spaces.replace(`Index "${index}" of a palette of ${space.palette.length}`, space);
}

/** All channels 0: black, but white paper for CMYK. */
function zeroColor(space: ColorSpace): Color {
  const zeros = [0, 0, 0, 0].slice(0, CHANNELS[space.type]);
  return space.transform === undefined ? convert(space.type, zeros) : space.transform(zeros);
}

/**
 * Channel values in decimal or `#hex`, clamped. Where their number does not fit the space it decides itself: one is grey,
 * three RGB, four CMYK, of 8 bits; undefined for another number.
 */
function colorOfValue(value: string, space: ColorSpace): Color | undefined {
  const web = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(value);
  if (web !== null) return [Number.parseInt(web[1]!, 16), Number.parseInt(web[2]!, 16), Number.parseInt(web[3]!, 16)];
  const channels = value.split(/[\s,]+/).flatMap(channelValue);
  const isOfSpace = channels.length === CHANNELS[space.type];
  const type = isOfSpace ? space.type : SPACE_OF_COUNT[channels.length];
  if (type === undefined) return undefined;
  const maximum = isOfSpace ? space.maximum : 255;
  const parts = channels.map((channel) => Math.min(Math.max(channel, 0), maximum) / maximum);
  return isOfSpace && space.transform !== undefined ? space.transform(parts) : convert(type, parts);
}

function channelValue(token: string): number[] {
  const value = token.startsWith('#') ? Number.parseInt(token.slice(1), 16) : Number.parseFloat(token);
  return Number.isFinite(value) ? [Math.round(value)] : [];
}

/** Channels 0…1 to sRGB 0…255. */
function convert(type: SpaceType, channels: readonly number[]): Color {
  const [first = 0, second = 0, third = 0, fourth = 0] = channels;
  if (type === 'GRAY') return [first * 255, first * 255, first * 255];
  if (type === 'RGB') return [first * 255, second * 255, third * 255];
  return cmykToRgb(first, second, third, fourth);
}

/** What each overprint of full inks looks like in print; index bits from high to low: cyan, magenta, yellow, black. */
const INK_CORNERS: readonly Color[] = [
  [1, 1, 1],
  [0.1373, 0.1216, 0.1255],
  [1, 0.949, 0],
  [0.1098, 0.102, 0],
  [0.9255, 0, 0.549],
  [0.1412, 0, 0],
  [0.9294, 0.1098, 0.1412],
  [0.1333, 0, 0],
  [0, 0.6784, 0.9373],
  [0, 0.0588, 0.1412],
  [0, 0.651, 0.3137],
  [0, 0.0745, 0],
  [0.1804, 0.1922, 0.5725],
  [0, 0, 0.0078],
  [0.2118, 0.2119, 0.2235],
  [0, 0, 0],
];

/** Inks 0…1 to sRGB 0…255 as print shows them: the corners of full inks, weighted. */
function cmykToRgb(cyan: number, magenta: number, yellow: number, black: number): Color {
  let red = 0;
  let green = 0;
  let blue = 0;
  INK_CORNERS.forEach((corner, index) => {
    const weight =
      (index & 8 ? cyan : 1 - cyan) *
      (index & 4 ? magenta : 1 - magenta) *
      (index & 2 ? yellow : 1 - yellow) *
      (index & 1 ? black : 1 - black);
    red += weight * corner[0];
    green += weight * corner[1];
    blue += weight * corner[2];
  });
  return [red * 255, green * 255, blue * 255];
}
