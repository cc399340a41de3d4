/** Pictures of a document by resource: found, identified and kept while they are likely to be needed again. */
import type { EncodedImage } from '../../display/list.js';
import { foreignFormat, identifyImage } from '../../images/index.js';
import type { DocumentBody } from '../document.js';
import { resolveResource } from '../location.js';
import type { ResourceTable } from '../resources.js';
import { Cache } from './cache.js';
import { isLowDepth } from './image-header.js';

/** Encoded bytes kept; a document of scans must not gather all its pages. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

export interface DocumentImage {
  readonly image: EncodedImage;
  /** Few colours in hard-edged squares: line art, a QR code. */
  readonly isLowDepth: boolean;
}

/** Why there is no picture, in the words of a diagnostic. */
export interface ImageFault {
  readonly code: 'image_missing' | 'image_undecodable' | 'image_too_large';
  readonly message: string;
}

export class DocumentImages {
  readonly #body: DocumentBody;
  readonly #images = new Cache<DocumentImage>(MAX_KEPT_BYTES, (entry) => entry.image.bytes.length);

  constructor(body: DocumentBody) {
    this.#body = body;
  }

  /** The picture of the MultiMedia `id`, the same object each time, or why it cannot be had. */
  find(id: string, resources: ResourceTable): DocumentImage | ImageFault {
    const resource = resources.find('media', id);
    if (resource === undefined) return missing(`Image resource ${id} is not defined`);
    const location = resource.element.childText('MediaFile') ?? '';
    const { pkg, folder } = this.#body;
    const part = resolveResource(pkg, location, resource.part, resource.baseLoc, folder);
    if (part === undefined) return missing(`Image file "${location}" of resource ${id} is not in the package`);
    return this.#load(part);
  }

  #load(part: string): DocumentImage | ImageFault {
    const known = this.#images.get(part);
    if (known !== undefined) return known;
    const bytes = this.#body.pkg.bytes(part);
    if (bytes === undefined) return missing(`Image file ${part} cannot be read`);
    const image = identifyImage(bytes, part);
    if (image === undefined) {
      return { code: 'image_undecodable', message: `${part} is ${foreignFormat(bytes)} and is left out` };
    }
    const limit = this.#body.pkg.limits.maxImagePixels;
    if (image.widthPx * image.heightPx > limit) {
      const size = `${image.widthPx} × ${image.heightPx}`;
      return { code: 'image_too_large', message: `${part} has ${size} pixels; the limit is ${limit}` };
    }
    const entry = { image, isLowDepth: isLowDepth(image) };
    this.#images.set(part, entry);
    return entry;
  }
}

function missing(message: string): ImageFault {
  return { code: 'image_missing', message };
}

export function isFault(found: DocumentImage | ImageFault): found is ImageFault {
  return 'code' in found;
}
