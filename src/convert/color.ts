/** Colours as clients write them: the hexadecimal forms of CSS, and `transparent`. */
import type { Color } from '../display/paint.js';

export interface OpaqueOrNot {
  readonly color: Color;
  /** 0 to 1. */
  readonly alpha: number;
}

/** `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa` or `transparent`, in either case; undefined for anything else. */
export function parseColor(text: string): OpaqueOrNot | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === 'transparent') return { color: [0, 0, 0], alpha: 0 };
  const digits = /^#([0-9a-f]{3}|[0-9a-f]{4}|[0-9a-f]{6}|[0-9a-f]{8})$/.exec(wanted)?.[1];
  if (digits === undefined) return undefined;
  const isShort = digits.length <= 4;
  const channels = digits.match(isShort ? /./g : /../g)!.map((hex) => Number.parseInt(isShort ? hex + hex : hex, 16));
  const [red = 0, green = 0, blue = 0, alpha = 255] = channels;
  return { color: [red, green, blue], alpha: alpha / 255 };
}
