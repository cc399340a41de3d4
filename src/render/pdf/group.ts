/** Groups: inline where they are nothing but a matrix, as form XObjects where they are shared or seen as one picture. */
import { type Box, invert, isIdentity } from '../../display/geometry.js';
import type { Group, Item } from '../../display/list.js';
import { listBounds } from '../bounds.js';
import { ContentStream } from './content.js';
import { boxEntry } from './paint.js';
import type { Reference } from './pdf-lib.js';
import type { Scene } from './scene.js';

/** For what paints nothing: text that is only there to be found. */
const NO_BOX: Box = { x: 0, y: 0, width: 0, height: 0 };

interface Form {
  readonly reference: Reference;
  readonly usesTransparency: boolean;
}

/** Forms of shared groups, by what they hold: the same items may stand under several matrices. */
export class FormTable {
  readonly #plain = new WeakMap<readonly Item[], Form>();
  readonly #isolated = new WeakMap<readonly Item[], Form>();

  /** The form of a group's items. `unitMm` is the size of a unit of their space. */
  formOf(scene: Scene, group: Group, isolated: boolean, unitMm: number): Form {
    const forms = isolated ? this.#isolated : this.#plain;
    const known = forms.get(group.items);
    if (known) return known;
    const form = writeForm(scene, group.items, isolated, unitMm);
    if (group.isShared) forms.set(group.items, form);
    return form;
  }
}

export function drawGroup(scene: Scene, forms: FormTable, stream: ContentStream, group: Group): void {
  if (group.items.length === 0 || !invert(group.matrix)) return;
  const isolated = group.alpha < 1 || group.blendMode !== 'normal';
  const isMoved = !isIdentity(group.matrix);
  if (isMoved) {
    stream.save();
    stream.concat(group.matrix);
  }
  if (isolated || group.isShared) paintForm(scene, forms, stream, group, isolated);
  else scene.drawItems(stream, group.items);
  if (isMoved) stream.restore();
}

function paintForm(scene: Scene, forms: FormTable, stream: ContentStream, group: Group, isolated: boolean): void {
  const form = forms.formOf(scene, group, isolated, stream.unitMm);
  // What a form finds in force holds for all that it paints.
  stream.setFillAlpha(group.alpha);
  stream.setStrokeAlpha(1);
  stream.paintObject(form.reference);
  if (form.usesTransparency) stream.usesTransparency = true;
}

function writeForm(scene: Scene, items: readonly Item[], isolated: boolean, unitMm: number): Form {
  const stream = new ContentStream(scene.states, unitMm);
  scene.drawItems(stream, items);
  const entries = {
    Type: 'XObject',
    Subtype: 'Form',
    BBox: boxEntry(listBounds(items) ?? NO_BOX, unitMm),
    ...(isolated ? { Group: { S: 'Transparency', CS: 'DeviceRGB', I: true } } : {}),
    Resources: stream.resources.toEntries(),
  };
  const reference = scene.file.addStream(entries, stream.toBytes());
  return { reference, usesTransparency: isolated || stream.usesTransparency };
}
