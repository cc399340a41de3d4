/** Decodes what the canvas library reads well. It is loaded when the first such picture comes. */
import { hasTransparency } from './png.js';
import type { DecodedImage } from './types.js';

/** The canvas silently gives nothing on longer sides. */
const MAX_SIDE_PX = 32_000;

/** Undefined where the library refuses the bytes. `size` is the header's, checked against the limits by the caller. */
export async function decodeWithCanvas(
  bytes: Uint8Array,
  size: { readonly width: number; readonly height: number },
): Promise<DecodedImage | undefined> {
  const { width, height } = size;
  if (width > MAX_SIDE_PX || height > MAX_SIDE_PX) return undefined;
  const { createCanvas, loadImage } = await import('@napi-rs/canvas');
  try {
    // A buffer only: a string would be taken for an address or a path.
    const image = await loadImage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (image.width !== width || image.height !== height) return undefined;
    const context = createCanvas(width, height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const rgba = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    return { widthPx: width, heightPx: height, rgba, hasAlpha: hasTransparency(rgba), isPartial: false };
  } catch {
    return undefined;
  }
}
