/** Items in paint order, and a page around them. */
import { IDENTITY } from '../../display/geometry.js';
import type { DisplayList, Item } from '../../display/list.js';
import { mmToPoints, POINTS_PER_MM } from '../../display/units.js';
import { effectiveClips } from '../bounds.js';
import { ContentStream, POINT_MM } from './content.js';
import { clipOperators } from './geometry.js';
import { drawGroup, type FormTable } from './group.js';
import { drawImage } from './image.js';
import { roundFactor } from './number.js';
import type { Reference } from './pdf-lib.js';
import type { Scene } from './scene.js';
import { drawPath } from './shape.js';
import { drawRun } from './text.js';

/** Paints `items` into the stream's current space. Neighbours under the same clip share it. */
export function drawItems(scene: Scene, forms: FormTable, stream: ContentStream, items: readonly Item[]): void {
  let openClip = '';
  for (const item of items) {
    // What its clips hide altogether may still have text to be found.
    const clips = item.clips.length > 0 ? (effectiveClips(item) ?? item.clips) : [];
    const clip = clipOperators(clips, IDENTITY, stream.decimals);
    if (clip === undefined) continue;
    if (clip !== openClip) {
      if (openClip !== '') stream.restore();
      if (clip !== '') stream.save();
      stream.write(clip);
      openClip = clip;
    }
    stream.setBlendMode(item.blendMode);
    drawItem(scene, forms, stream, item);
  }
  if (openClip !== '') stream.restore();
}

function drawItem(scene: Scene, forms: FormTable, stream: ContentStream, item: Item): void {
  switch (item.kind) {
    case 'group':
      drawGroup(scene, forms, stream, item);
      break;
    case 'path':
      drawPath(scene, stream, item);
      break;
    case 'glyphs':
      drawRun(scene, stream, item);
      break;
    case 'image':
      drawImage(scene, stream, item);
      break;
  }
}

/**
 * Writes a page whose pictures are written already, as a kid of `parent`.
 *
 * @param annotations the list of its annotations
 */
export function writePage(
  scene: Scene,
  list: DisplayList,
  parent: Reference,
  reference: Reference,
  annotations: Reference | undefined,
): void {
  const stream = new ContentStream(scene.states, POINT_MM, 'page');
  stream.concat([POINTS_PER_MM, 0, 0, -POINTS_PER_MM, 0, mmToPoints(list.heightMm)]);
  scene.drawItems(stream, list.items);
  const contents = scene.file.addStream({}, stream.toBytes());
  scene.file.add(
    scene.file.object({
      Type: 'Page',
      Parent: parent,
      MediaBox: [0, 0, roundFactor(mmToPoints(list.widthMm)), roundFactor(mmToPoints(list.heightMm))],
      Resources: stream.resources.toEntries(),
      Contents: contents,
      ...(stream.usesTransparency ? { Group: { S: 'Transparency', CS: 'DeviceRGB' } } : {}),
      ...(annotations === undefined ? {} : { Annots: annotations }),
    }),
    reference,
  );
}
