/** What a page learns about its fonts, gathered so that each font is told of once. */
import type { Face } from '../../display/face.js';
import type { Diagnostic } from '../../display/list.js';
import type { DocumentFont, FontVariant } from './font.js';

/** Enough to see which characters are meant. */
const MAX_CHARACTERS = 200;

interface Finding {
  readonly variant: FontVariant;
  readonly substituted: Set<string>;
  readonly missing: Set<string>;
  readonly fallbacks: Map<Face, Set<string>>;
}

export class FontFindings {
  readonly #findings = new Map<DocumentFont, Finding>();

  /** `character` is drawn with the substitute of the whole font. */
  substitute(variant: FontVariant, character: string): void {
    if (!variant.font.isReported) this.#of(variant).substituted.add(character);
  }

  /** `character` is drawn with another face than the rest of the font. */
  fallback(variant: FontVariant, face: Face, character: string): void {
    const { fallbacks } = this.#of(variant);
    let characters = fallbacks.get(face);
    if (characters === undefined) {
      characters = new Set();
      fallbacks.set(face, characters);
    }
    characters.add(character);
  }

  /** No face has `character`. */
  missing(variant: FontVariant, character: string): void {
    this.#of(variant).missing.add(character);
  }

  /** Tells all of it, in the order in which the fonts were met. */
  flush(report: (diagnostic: Pick<Diagnostic, 'code' | 'message' | 'characters'>) => void): void {
    for (const [font, { variant, substituted, missing, fallbacks }] of this.#findings) {
      const name = font.name === '' ? 'without a name' : `"${font.name}"`;
      if (substituted.size > 0 && !font.isReported) {
        font.setReported();
        const message = `Font ${name} is not available; "${variant.resolved.substituteName}" is drawn instead`;
        report({ code: 'font_substituted', message, characters: joined(substituted) });
      }
      for (const [face, characters] of fallbacks) {
        const message = `Font ${name} lacks characters that "${face.familyName}" is drawn for`;
        report({ code: 'glyph_substituted', message, characters: joined(characters) });
      }
      if (missing.size > 0) {
        const message = `No face has these characters of font ${name}; nothing is drawn for them`;
        report({ code: 'glyph_missing', message, characters: joined(missing) });
      }
    }
    this.#findings.clear();
  }

  #of(variant: FontVariant): Finding {
    let finding = this.#findings.get(variant.font);
    if (finding === undefined) {
      finding = { variant, substituted: new Set(), missing: new Set(), fallbacks: new Map() };
      this.#findings.set(variant.font, finding);
    }
    return finding;
  }
}

function joined(characters: ReadonlySet<string>): string {
  return [...characters].slice(0, MAX_CHARACTERS).join('');
}
