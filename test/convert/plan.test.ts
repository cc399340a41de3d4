// Which engines make which pair, in which lane, and what is said of pairs that nobody makes (contract B1, B3).
import { describe, expect, it } from 'vitest';
import { type AbsentEngines, planFor } from '../../src/convert/plan.js';
import type { FormatId } from '../../src/formats.js';

function way(from: FormatId, to: FormatId, absent?: AbsentEngines): string {
  const { lane, steps } = planFor(from, to, absent);
  return `${lane}: ${steps.map((step) => `${step.engine} ${step.from}-${step.to}`).join(', ')}`;
}

describe('plans', () => {
  it.each([
    ['ofd', 'pdf', 'fast: ofd ofd-pdf'],
    ['ofd', 'webp', 'fast: ofd ofd-webp'],
    ['pdf', 'txt', 'fast: pdf pdf-txt'],
    ['pdf', 'pdf', 'fast: pdf pdf-pdf'],
    ['tiff', 'pdf', 'fast: pictures tiff-pdf'],
    ['png', 'jpeg', 'fast: pictures png-pdf, pdf pdf-jpeg'],
    ['md', 'html', 'fast: markdown md-html'],
    ['md', 'pdf', 'heavy: markdown md-html, chromium html-pdf'],
    ['md', 'png', 'heavy: markdown md-html, chromium html-pdf, pdf pdf-png'],
    ['docx', 'pdf', 'heavy: libreoffice docx-pdf'],
    ['txt', 'svg', 'heavy: libreoffice txt-pdf, pdf pdf-svg'],
    ['csv', 'json', 'heavy: libreoffice csv-pdf, pdf pdf-json'],
    ['mhtml', 'md', 'heavy: chromium mhtml-pdf, pdf pdf-md'],
  ] as const)('%s to %s', (from, to, expected) => {
    expect(way(from, to)).toBe(expected);
  });

  it('no engine makes an OFD package or an Office file', () => {
    expect(() => planFor('ofd', 'docx')).toThrow(
      'output.format: no engine makes docx from ofd; from ofd there are pdf, html, json, txt, md, png, jpeg, webp, svg',
    );
    expect(() => planFor('svg', 'pdf')).toThrow(/^input: no engine reads svg, .* what can be read is ofd, pdf, png/);
  });

  it('an engine that is absent is named, with the way to bring it', () => {
    const absent: AbsentEngines = new Map([['libreoffice', 'set soffice_path']]);
    expect(() => planFor('docx', 'png', absent)).toThrow(
      expect.objectContaining({
        code: 'unsupported_conversion',
        reason: 'unsupported',
        message: 'docx to png needs LibreOffice, which is not there: set soffice_path',
      }),
    );
    expect(way('md', 'pdf', absent)).toBe('heavy: markdown md-html, chromium html-pdf');
  });
});
