/** Seals: pictures of signatures, or whole packages with one page, placed on the pages that they are stamped on. */
import { type Box, IDENTITY, type Matrix, rectanglePath } from '../../display/geometry.js';
import type { BlendMode, Clip, EncodedImage, Group, Item, Report } from '../../display/list.js';
import type { FontBook } from '../../fonts/index.js';
import { decodeImage, foreignFormat, identifyImage } from '../../images/index.js';
import { type DocumentBody, readDocuments } from '../document.js';
import { OfdError } from '../error.js';
import { OfdPackage } from '../package.js';
import type { Seal, SealStamp } from '../signature.js';
import { DocumentContext, type PageState } from './context.js';
import { canBeTransparent } from './image-header.js';
import { buildObjects } from './objects.js';
import { PageBuilder, type PageSeals, type SealPlacer } from './page.js';
import { hasArea, NO_CLIPS } from './placement.js';

/** Pictures of more pixels are not looked through for transparency; seals have a tenth of it. */
const MAX_INSPECTED_PIXELS = 4_000_000;
/** Around the content of a package: the group that places it, and the shared one. */
const GROUPS_A_SEAL = 2;
const NO_SEALS: PageSeals = { items: [], boxes: [] };

/** What a seal shows, ready to be placed: it fills the unit square. */
interface SealPicture {
  readonly item: Item;
  /** Graphic units in it. */
  readonly objects: number;
  readonly characters: number;
}

interface PlacedSeal {
  readonly seal: Seal;
  readonly stamp: SealStamp;
}

/** The seals of one document. */
export class DocumentSeals implements SealPlacer {
  readonly #stamps = new Map<string, PlacedSeal[]>();
  readonly #pictures: ReadonlyMap<Seal, SealPicture>;

  private constructor(body: DocumentBody, pictures: ReadonlyMap<Seal, SealPicture>, report: Report) {
    this.#pictures = pictures;
    const pageIds = new Set(body.pages.map(({ id }) => id));
    for (const seal of body.seals) {
      for (const stamp of seal.stamps) {
        if (!pageIds.has(stamp.pageRef) || !hasArea(stamp.boundary)) {
          const fault = hasArea(stamp.boundary) ? `page ${stamp.pageRef}, which is not there` : 'a place without area';
          const message = `A stamp of signature ${seal.signatureId} has ${fault}; it is not shown`;
          report({ code: 'stamp_invalid', message, part: seal.part });
          continue;
        }
        const onPage = this.#stamps.get(stamp.pageRef);
        if (onPage === undefined) this.#stamps.set(stamp.pageRef, [{ seal, stamp }]);
        else onPage.push({ seal, stamp });
      }
    }
  }

  /** Opens all pictures; one that cannot be shown is a diagnostic and stops no other. */
  static async open(body: DocumentBody, fonts: FontBook, report: Report): Promise<DocumentSeals> {
    const pictures = new Map<Seal, SealPicture>();
    for (const seal of body.seals) {
      if (seal.stamps.length === 0) continue;
      const same = [...pictures.keys()].find(({ picture }) => Buffer.compare(picture, seal.picture) === 0);
      const picture = same === undefined ? await openPicture(seal, body, fonts, report) : pictures.get(same);
      if (picture !== undefined) pictures.set(seal, picture);
    }
    return new DocumentSeals(body, pictures, report);
  }

  onPage(pageId: string, page: PageState): PageSeals {
    const stamps = this.#stamps.get(pageId);
    if (stamps === undefined) return NO_SEALS;
    const items: Item[] = [];
    const boxes: Box[] = [];
    for (const { seal, stamp } of stamps) {
      const picture = this.#pictures.get(seal);
      if (picture === undefined || !page.count(picture.objects, picture.characters)) continue;
      page.note(false, true);
      page.reach(GROUPS_A_SEAL);
      items.push(placed(picture.item, stamp));
      boxes.push(stamp.boundary);
    }
    return { items, boxes };
  }
}

/** The picture stretched to the stamp's box, cut to its clip. */
function placed(item: Item, { boundary, clip }: SealStamp): Item {
  const { x, y, width, height } = boundary;
  const matrix: Matrix = [width, 0, 0, height, x, y];
  const shown = clip === undefined ? undefined : { ...clip, x: x + clip.x, y: y + clip.y };
  const clips: readonly Clip[] =
    shown === undefined || !hasArea(shown) ? NO_CLIPS : [{ path: rectanglePath(shown), rule: 'nonzero' }];
  if (item.kind === 'image') return { ...item, matrix, clips };
  return { kind: 'group', matrix, alpha: 1, items: [item], isShared: false, clips, blendMode: 'normal' };
}

function openPicture(
  seal: Seal,
  body: DocumentBody,
  fonts: FontBook,
  report: Report,
): Promise<SealPicture | undefined> {
  return seal.pictureType === 'ofd' ? packagePicture(seal, body, fonts, report) : imagePicture(seal, report);
}

/** A raster picture. One without transparency is multiplied, so that its white ground hides nothing. */
async function imagePicture(seal: Seal, report: Report): Promise<SealPicture | undefined> {
  const image = identifyImage(seal.picture, seal.part);
  if (image === undefined) {
    const message = `The picture of seal ${nameOf(seal)} (${seal.pictureType}) is ${foreignFormat(seal.picture)}; it is not drawn`;
    report({ code: 'image_undecodable', message, part: seal.part });
    return undefined;
  }
  const blendMode: BlendMode = (await isOpaque(image)) ? 'multiply' : 'normal';
  return {
    item: { kind: 'image', image, matrix: IDENTITY, alpha: 1, smooth: true, clips: NO_CLIPS, blendMode },
    objects: 1,
    characters: 0,
  };
}

async function isOpaque(image: EncodedImage): Promise<boolean> {
  if (!canBeTransparent(image)) return true;
  if (image.widthPx * image.heightPx > MAX_INSPECTED_PIXELS) return false;
  try {
    const { rgba } = await decodeImage(image, { maxPixels: MAX_INSPECTED_PIXELS });
    for (let i = 3; i < rgba.length; i += 4) {
      if (rgba[i] !== 255) return false;
    }
    return true;
  } catch {
    // Whoever draws it says what is wrong with it.
    return false;
  }
}

/** The first page of a package, without paper, scaled from its sheet to the unit square. */
async function packagePicture(
  seal: Seal,
  body: DocumentBody,
  fonts: FontBook,
  report: Report,
): Promise<SealPicture | undefined> {
  const reportInside: Report = ({ code, message, characters }) =>
    report({
      code,
      message: `In seal ${nameOf(seal)}: ${message}`,
      part: seal.part,
      ...(characters === undefined ? {} : { characters }),
    });
  try {
    const pkg = await OfdPackage.open(seal.picture, body.pkg.limits, reportInside);
    const [document] = readDocuments(pkg, reportInside, false);
    const page = document?.pages[0];
    if (document === undefined || page === undefined) throw new OfdError('corrupt', 'it has no page');
    const context = new DocumentContext(document, fonts, reportInside, buildObjects);
    const { items, widthMm, heightMm } = new PageBuilder(context, undefined, GROUPS_A_SEAL).build(page, 1);
    const sheet = rectanglePath({ x: 0, y: 0, width: 1, height: 1 });
    const item: Group = {
      kind: 'group',
      matrix: [1 / widthMm, 0, 0, 1 / heightMm, 0, 0],
      alpha: 1,
      items,
      isShared: true,
      clips: [{ path: sheet, rule: 'nonzero' }],
      blendMode: 'normal',
    };
    return { item, objects: countObjects(items), characters: countCharacters(items) };
  } catch (error) {
    if (!(error instanceof OfdError)) throw error;
    const message = `The package in seal ${nameOf(seal)} cannot be shown: ${error.message}`;
    report({ code: 'seal_unreadable', message, part: seal.part });
    return undefined;
  }
}

function countObjects(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + (item.kind === 'group' ? countObjects(item.items) : 1), 0);
}

function countCharacters(items: readonly Item[]): number {
  return items.reduce((sum, item) => {
    if (item.kind === 'group') return sum + countCharacters(item.items);
    return item.kind === 'glyphs' ? sum + item.glyphIds.length : sum;
  }, 0);
}

function nameOf(seal: Seal): string {
  return seal.sealName ? `"${seal.sealName}"` : seal.signatureId;
}
