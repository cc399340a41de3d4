/**
 * ICC profiles as far as OFD colours need them: grey profiles with one curve, RGB profiles with three curves and a
 * matrix. Profiles of tables (all of CMYK) are not read.
 */

/** Channels 0…1 to sRGB 0…255. */
export type ProfileTransform = (channels: readonly number[]) => readonly [number, number, number];

/** Why a profile is of no use, for a message. */
export interface ProfileFault {
  readonly fault: string;
}

const HEADER_BYTES = 128;
const MAX_TAGS = 200;
/** Entries of a curve; more than 16 bits can tell apart make no difference. */
const MAX_CURVE_ENTRIES = 65_536;
/** From XYZ under the profiles' white (D50) to linear sRGB: the inverse of sRGB's own primaries brought to that white. */
const XYZ_TO_SRGB = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.033454],
  [0.0719453, -0.2289914, 1.4052427],
] as const;

type Curve = (value: number) => number;
type Triple = readonly [number, number, number];

/** The transform of a profile for colours of `type` (of OFD's colour spaces); what is wrong with it where there is none. */
export function readProfile(bytes: Uint8Array, type: 'GRAY' | 'RGB' | 'CMYK'): ProfileTransform | ProfileFault {
  const profile = new Profile(bytes);
  if (profile.text(36) !== 'acsp') return { fault: 'it is no ICC profile' };
  const space = profile.text(16).trim();
  if (space !== type) return { fault: `it is a profile for ${space || 'nothing'}, the colour space is ${type}` };
  if (type === 'GRAY') return grayTransform(profile);
  return type === 'RGB' ? rgbTransform(profile) : { fault: 'profiles for CMYK are not supported' };
}

function grayTransform(profile: Profile): ProfileTransform | ProfileFault {
  const curve = profile.curve('kTRC');
  if (curve === undefined) return { fault: 'it has no curve for grey' };
  // In a profile that speaks of lightness the curve leads to L*, otherwise to luminance.
  const toLuminance: Curve = profile.text(20).trim() === 'Lab' ? luminanceOfLightness : (value) => value;
  return ([gray = 0]) => {
    const level = encoded(toLuminance(curve(clamp(gray))));
    return [level, level, level];
  };
}

function rgbTransform(profile: Profile): ProfileTransform | ProfileFault {
  const curves = ['rTRC', 'gTRC', 'bTRC'].map((tag) => profile.curve(tag));
  const columns = ['rXYZ', 'gXYZ', 'bXYZ'].map((tag) => profile.xyz(tag));
  const [red, green, blue] = curves;
  const [ofRed, ofGreen, ofBlue] = columns;
  if (!red || !green || !blue || !ofRed || !ofGreen || !ofBlue || profile.text(20) !== 'XYZ ') {
    return { fault: 'it has no curves with a matrix; profiles of tables are not supported' };
  }
  return ([r = 0, g = 0, b = 0]) => {
    const linear = [red(clamp(r)), green(clamp(g)), blue(clamp(b))] as const;
    const xyz = [0, 1, 2].map((i) => linear[0] * ofRed[i]! + linear[1] * ofGreen[i]! + linear[2] * ofBlue[i]!);
    const channel = (row: Triple): number => encoded(row[0] * xyz[0]! + row[1] * xyz[1]! + row[2] * xyz[2]!);
    return [channel(XYZ_TO_SRGB[0]), channel(XYZ_TO_SRGB[1]), channel(XYZ_TO_SRGB[2])];
  };
}

/** Reads numbers and tags; what lies beyond the end reads as zeros or undefined. */
class Profile {
  readonly #view: DataView;
  readonly #tags = new Map<string, { readonly at: number; readonly size: number }>();

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = Math.min(this.#uint32(HEADER_BYTES), MAX_TAGS);
    for (let i = 0; i < count; i++) {
      const entry = HEADER_BYTES + 4 + 12 * i;
      this.#tags.set(this.text(entry), { at: this.#uint32(entry + 4), size: this.#uint32(entry + 8) });
    }
  }

  /** Four characters. */
  text(at: number): string {
    if (at + 4 > this.#view.byteLength) return '';
    return String.fromCharCode(...[0, 1, 2, 3].map((i) => this.#view.getUint8(at + i)));
  }

  xyz(tag: string): Triple | undefined {
    const place = this.#place(tag, 20);
    if (place === undefined || this.text(place) !== 'XYZ ') return undefined;
    return [this.#fixed(place + 8), this.#fixed(place + 12), this.#fixed(place + 16)];
  }

  /** A curve from 0…1 to 0…1. */
  curve(tag: string): Curve | undefined {
    const place = this.#place(tag, 12);
    if (place === undefined) return undefined;
    const kind = this.text(place);
    if (kind === 'curv') return this.#sampledCurve(place);
    return kind === 'para' ? this.#formulaCurve(place) : undefined;
  }

  #place(tag: string, size: number): number | undefined {
    const place = this.#tags.get(tag);
    return place === undefined || place.at + size > this.#view.byteLength ? undefined : place.at;
  }

  #sampledCurve(place: number): Curve | undefined {
    const count = this.#uint32(place + 8);
    if (count === 0) return (value) => value;
    if (count > MAX_CURVE_ENTRIES || place + 12 + 2 * count > this.#view.byteLength) return undefined;
    const entry = (i: number): number => this.#view.getUint16(place + 12 + 2 * i);
    if (count === 1) return power(entry(0) / 256);
    const entries = Array.from({ length: count }, (_, i) => entry(i) / 65_535);
    return (value) => {
      const at = value * (count - 1);
      const low = Math.min(Math.floor(at), count - 2);
      return entries[low]! + (entries[low + 1]! - entries[low]!) * (at - low);
    };
  }

  #formulaCurve(place: number): Curve | undefined {
    const kind = this.#view.getUint16(place + 8);
    const count = [1, 3, 4, 5, 7][kind];
    if (count === undefined || place + 12 + 4 * count > this.#view.byteLength) return undefined;
    const numbers = Array.from({ length: count }, (_, i) => this.#fixed(place + 12 + 4 * i));
    const [g = 1, a = 1, b = 0] = numbers;
    const raise = power(g);
    const above = (value: number): number => raise(Math.max(0, a * value + b));
    switch (kind) {
      case 0:
        return raise;
      case 1:
        return (value) => clamp(value >= -b / a ? above(value) : 0);
      case 2:
        return (value) => clamp((value >= -b / a ? above(value) : 0) + numbers[3]!);
      case 3:
        return (value) => clamp(value >= numbers[4]! ? above(value) : numbers[3]! * value);
      default:
        return (value) => clamp(value >= numbers[4]! ? above(value) + numbers[5]! : numbers[3]! * value + numbers[6]!);
    }
  }

  #uint32(at: number): number {
    return at + 4 > this.#view.byteLength ? 0 : this.#view.getUint32(at);
  }

  /** A signed number with 16 bits behind the point. */
  #fixed(at: number): number {
    return at + 4 > this.#view.byteLength ? 0 : this.#view.getInt32(at) / 65_536;
  }
}

function power(exponent: number): Curve {
  return (value) => clamp(value ** exponent);
}

function clamp(value: number): number {
  return value > 0 ? Math.min(value, 1) : 0;
}

function luminanceOfLightness(lightness: number): number {
  const l = lightness * 100;
  return l > 8 ? ((l + 16) / 116) ** 3 : l / 903.3;
}

/** A linear channel of sRGB, coded, 0…255. */
function encoded(linear: number): number {
  const value = clamp(linear);
  return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
}
