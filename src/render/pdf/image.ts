/** Picture items. */
import { type Matrix, multiply } from '../../display/geometry.js';
import type { ImageItem } from '../../display/list.js';
import type { ContentStream } from './content.js';
import type { Scene } from './scene.js';

/** PDF has a picture's first row at the top of a unit square with y up, the display list one with y down. */
const UPRIGHT: Matrix = [1, 0, 0, -1, 0, 1];

export function drawImage(scene: Scene, stream: ContentStream, item: ImageItem): void {
  const image = scene.images.imageOf(item);
  if (!image) return;
  stream.setFillAlpha(item.alpha);
  stream.save();
  stream.concat(multiply(item.matrix, UPRIGHT));
  stream.paintObject(image.reference);
  stream.restore();
  if (image.isTransparent) stream.usesTransparency = true;
}
