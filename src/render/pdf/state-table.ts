/** The extended graphics states of the document: opacity, blend mode, soft mask; each written once. */
import type { BlendMode } from '../../display/list.js';
import type { PdfFile } from './file.js';
import { roundFactor } from './number.js';
import { PDFName, type Reference } from './pdf-lib.js';

export class StateTable {
  readonly #file: PdfFile;
  readonly #references = new Map<string, Reference>();

  constructor(file: PdfFile) {
    this.#file = file;
  }

  fillAlpha(alpha: number): Reference {
    return this.#state('ca', roundFactor(alpha));
  }

  strokeAlpha(alpha: number): Reference {
    return this.#state('CA', roundFactor(alpha));
  }

  blendMode(mode: BlendMode): Reference {
    return this.#state('BM', pdfName(mode));
  }

  /** A state whose opacity is the luminance of `group`, a form in the space where the state is set. */
  softMask(group: Reference): Reference {
    const mask = { Type: 'Mask', S: 'Luminosity', G: group };
    return this.#file.addOnce(this.#file.object({ Type: 'ExtGState', SMask: mask }));
  }

  #state(key: string, value: number | string): Reference {
    const name = `${key}${value}`;
    const known = this.#references.get(name);
    if (known) return known;
    const entry = typeof value === 'string' ? PDFName.of(value) : value;
    const reference = this.#file.add(this.#file.object({ Type: 'ExtGState', [key]: entry }));
    this.#references.set(name, reference);
    return reference;
  }
}

/** ColorDodge for color-dodge. */
function pdfName(mode: BlendMode): string {
  return mode.replace(/(^|-)([a-z])/g, (_, _hyphen, letter: string) => letter.toUpperCase());
}
