/** Work on decoded pixels: masks, reduction and enlargement by whole factors. */

/** Rows from the top, four bytes a pixel, alpha not multiplied in. */
export interface Pixels {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly rgba: Uint8Array;
}

/** A finer mask makes the picture finer, but no larger than this. */
const MAX_MASKED_PIXELS = 16_000_000;

/** `image` with its opacity multiplied by the mask's luminance (white shows); of each side as many pixels as the finer of both. */
export function applyMask(image: Pixels, mask: Pixels): Pixels {
  const finer = {
    widthPx: Math.max(image.widthPx, mask.widthPx),
    heightPx: Math.max(image.heightPx, mask.heightPx),
  };
  const { widthPx, heightPx } = finer.widthPx * finer.heightPx <= MAX_MASKED_PIXELS ? finer : image;
  const rgba = new Uint8Array(widthPx * heightPx * 4);
  for (let y = 0; y < heightPx; y++) {
    for (let x = 0; x < widthPx; x++) {
      const from = pixelAt(image, (x + 0.5) / widthPx, (y + 0.5) / heightPx);
      const at = (y * widthPx + x) * 4;
      for (let i = 0; i < 3; i++) rgba[at + i] = image.rgba[from + i]!;
      const light = luminance(mask.rgba, pixelAt(mask, (x + 0.5) / widthPx, (y + 0.5) / heightPx));
      rgba[at + 3] = Math.round((image.rgba[from + 3]! * light) / 255);
    }
  }
  return { widthPx, heightPx, rgba };
}

/** Where the pixel stands that covers a place in the unit square. */
function pixelAt({ widthPx, heightPx }: Pixels, u: number, v: number): number {
  return 4 * (Math.floor(v * heightPx) * widthPx + Math.floor(u * widthPx));
}

/** 0…255, the pixel's own opacity counted in. */
function luminance(rgba: Uint8Array, at: number): number {
  const light = 0.299 * rgba[at]! + 0.587 * rgba[at + 1]! + 0.114 * rgba[at + 2]!;
  return (light * rgba[at + 3]!) / 255;
}

/** Means of blocks of `factorX` × `factorY` pixels; those at the right and lower edge may be smaller. */
export function reducePixels(image: Pixels, factorX: number, factorY: number): Pixels {
  if (factorX === 1 && factorY === 1) return image;
  const widthPx = Math.ceil(image.widthPx / factorX);
  const heightPx = Math.ceil(image.heightPx / factorY);
  const rgba = new Uint8Array(widthPx * heightPx * 4);
  const sums = new Float64Array(widthPx * 4);
  for (let y = 0; y < heightPx; y++) {
    const firstRow = y * factorY;
    const rows = Math.min(factorY, image.heightPx - firstRow);
    sums.fill(0);
    for (let row = firstRow; row < firstRow + rows; row++) addRow(image, row, factorX, sums);
    for (let x = 0; x < widthPx; x++) {
      const count = rows * Math.min(factorX, image.widthPx - x * factorX);
      const alphaSum = sums[x * 4 + 3]!;
      const at = (y * widthPx + x) * 4;
      if (alphaSum > 0) for (let i = 0; i < 3; i++) rgba[at + i] = Math.round(sums[x * 4 + i]! / alphaSum);
      rgba[at + 3] = Math.round(alphaSum / count);
    }
  }
  return { widthPx, heightPx, rgba };
}

/** Adds a row to the sums of its blocks, colours weighted by their opacity. */
function addRow(image: Pixels, row: number, factorX: number, sums: Float64Array): void {
  const { rgba, widthPx } = image;
  let at = row * widthPx * 4;
  for (let x = 0; x < widthPx; ) {
    const block = ((x / factorX) | 0) * 4;
    const end = Math.min(x + factorX, widthPx);
    let red = 0;
    let green = 0;
    let blue = 0;
    let opacity = 0;
    for (; x < end; x++, at += 4) {
      const alpha = rgba[at + 3]!;
      red += rgba[at]! * alpha;
      green += rgba[at + 1]! * alpha;
      blue += rgba[at + 2]! * alpha;
      opacity += alpha;
    }
    sums[block] = sums[block]! + red;
    sums[block + 1] = sums[block + 1]! + green;
    sums[block + 2] = sums[block + 2]! + blue;
    sums[block + 3] = sums[block + 3]! + opacity;
  }
}

/** Every pixel as a square of `factor` × `factor` pixels. */
export function enlargePixels(image: Pixels, factor: number): Pixels {
  if (factor === 1) return image;
  const widthPx = image.widthPx * factor;
  const heightPx = image.heightPx * factor;
  const from = new Uint32Array(Uint8Array.from(image.rgba).buffer);
  const to = new Uint32Array(widthPx * heightPx);
  for (let y = 0; y < heightPx; y++) {
    const row = Math.floor(y / factor) * image.widthPx;
    for (let x = 0; x < widthPx; x++) to[y * widthPx + x] = from[row + Math.floor(x / factor)]!;
  }
  return { widthPx, heightPx, rgba: new Uint8Array(to.buffer) };
}
