// Options of a conversion: what each may be, where it is of use, how a fault is told (contract B4).
import { describe, expect, it } from 'vitest';
import { parseColor } from '../../src/convert/color.js';
import { checkOptions, type GivenOptions, OPTION_NAMES, OptionError } from '../../src/convert/options.js';
import { parseMargins, parsePaper } from '../../src/convert/paper.js';
import type { FormatId } from '../../src/formats.js';

const check = (given: GivenOptions, to: FormatId, from: FormatId | undefined = undefined) =>
  checkOptions(given, { from, to }, (name) => `options.${name}`);

function faultOf(given: GivenOptions, to: FormatId, from?: FormatId): string {
  try {
    check(given, to, from);
  } catch (error) {
    if (error instanceof OptionError) return error.message;
    throw error;
  }
  return 'no fault';
}

describe('options that are right', () => {
  it('come back as they are, without what was not given', () => {
    const given = {
      pages: '1-3,7',
      width: 300,
      height: undefined,
      background: '#FFF',
      quality: 90,
      annotations: false,
    };
    const { height: _, ...rest } = given;
    expect(check(given, 'jpeg')).toEqual(rest);
    expect(check({}, 'pdf')).toEqual({});
    expect(check({ failOn: ['font_substituted', 'warnings_cut'] }, 'txt')).toEqual({
      failOn: ['font_substituted', 'warnings_cut'],
    });
  });

  it.each([
    ['dpi', 36, 'png'],
    ['dpi', 600, 'webp'],
    ['width', 1, 'png'],
    ['height', 16_383, 'jpeg'],
    ['quality', 1, 'webp'],
    ['quality', 100, 'jpeg'],
    ['background', 'transparent', 'svg'],
    ['background', '#12345678', 'webp'],
    ['background', '#123456ff', 'jpeg'],
    ['annotations', true, 'json'],
    ['pages', '5-', 'html'],
  ] as const)('%s %j for %s', (name, value, to) => {
    expect(check({ [name]: value }, to)).toEqual({ [name]: value });
  });
});

describe('options of sheets', () => {
  it.each([
    ['paper', 'A4', 'pdf', 'html'],
    ['paper', 'letter', 'png', 'mhtml'],
    ['paper', '210x297', 'pdf', 'md'],
    ['margins', '20', 'pdf', 'html'],
    ['margins', '20, 15.5,20,0', 'txt', 'html'],
    ['landscape', true, 'pdf', 'md'],
    ['printBackground', false, 'pdf', 'html'],
    ['pages', '1', 'html', 'ofd'],
  ] as const)('%s %j for %s from %s', (name, value, to, from) => {
    expect(check({ [name]: value }, to, from)).toEqual({ [name]: value });
  });

  it.each([
    ['paper', 'A4', 'docx', 'pdf', 'options.paper is of no use for docx; it belongs to input of html, mhtml, md'],
    ['landscape', true, 'ofd', 'pdf', 'options.landscape is of no use for ofd'],
    ['paper', 'A4', 'md', 'html', 'options.paper is of no use for md to html, which has no pages'],
    ['pages', '1', 'md', 'html', 'options.pages is of no use for md to html'],
    ['annotations', false, 'html', 'pdf', 'options.annotations is of no use for html; it belongs to input of ofd, pdf'],
    ['password', 'geheim', 'html', 'pdf', 'options.password is of no use for html'],
    ['password', 'geheim', 'docx', 'pdf', 'options.password is of no use for docx'],
    ['paper', 'A0x', 'html', 'pdf', 'options.paper: "A0x" is not allowed; write A3, A4'],
    ['paper', '0x297', 'html', 'pdf', 'each 20 to 5080'],
    ['paper', '210x6000', 'html', 'pdf', 'each 20 to 5080'],
    ['paper', [210, 297], 'html', 'pdf', 'options.paper: [210,297] is not allowed'],
    ['margins', '1,2', 'html', 'pdf', 'four of them (top,right,bottom,left)'],
    ['margins', '-1', 'html', 'pdf', 'options.margins: "-1" is not allowed'],
    ['margins', '501', 'html', 'pdf', 'options.margins: "501"'],
    ['margins', 20, 'html', 'pdf', 'write millimetres such as "20"'],
    ['landscape', 'yes', 'html', 'pdf', 'true or false'],
  ] as const)('%s %j of %s to %s: %s', (name, value, from, to, message) => {
    expect(faultOf({ [name]: value }, to, from)).toContain(message);
  });

  it('margins that leave no room', () => {
    expect(faultOf({ margins: '105' }, 'pdf', 'html')).toBe(
      'options.margins: "105" leaves no room on A4; write smaller ones',
    );
    expect(faultOf({ margins: '80', paper: 'A5' }, 'pdf', 'html')).toContain('leaves no room on A5');
    expect(faultOf({ margins: '10,95,10,95' }, 'pdf', 'html')).toBe('no fault');
    expect(faultOf({ margins: '145,0,145,0', landscape: true }, 'pdf', 'html')).toContain('no room');
  });

  it('never shows a password', () => {
    expect(faultOf({ password: 'x'.repeat(300) }, 'pdf', 'pdf')).toBe(
      'options.password: write a text of 1 to 256 characters',
    );
  });

  it('are numbers where they are read', () => {
    expect(parsePaper(' a4 ')).toEqual({ widthMm: 210, heightMm: 297 });
    expect(parsePaper('100.5 x 200 mm')).toEqual({ widthMm: 100.5, heightMm: 200 });
    expect(parseMargins('5')).toEqual({ topMm: 5, rightMm: 5, bottomMm: 5, leftMm: 5 });
    expect(parseMargins('1,2,3,4')).toEqual({ topMm: 1, rightMm: 2, bottomMm: 3, leftMm: 4 });
  });
});

describe('options that are not', () => {
  it.each([
    ['dpi', 35, 'png', 'options.dpi: 35 is not allowed; write a whole number from 36 to 600'],
    ['dpi', '96', 'png', 'options.dpi: "96" is not allowed'],
    ['width', 0, 'png', 'a whole number from 1 to 16383'],
    ['height', 16_384, 'png', 'options.height: 16384'],
    ['quality', 0, 'jpeg', 'a whole number from 1 to 100'],
    ['quality', 99.5, 'jpeg', 'options.quality: 99.5'],
    ['background', 'white', 'png', 'options.background: "white" is not allowed; write a colour such as "#fff"'],
    ['background', '#12345', 'svg', 'options.background'],
    ['background', 'transparent', 'jpeg', 'jpeg has no other'],
    ['background', '#ffffff80', 'jpeg', 'jpeg has no other'],
    ['annotations', 'no', 'pdf', 'true or false'],
    [
      'failOn',
      ['font_substituted', 'fonts'],
      'pdf',
      'options.failOn: "fonts" is not allowed; write codes of warnings: act',
    ],
    ['failOn', 'font_substituted', 'pdf', 'a list of warning codes'],
    ['pages', '3-1', 'pdf', 'options.pages: "3-1" ends before it starts'],
    ['pages', 7, 'pdf', 'options.pages: 7'],
  ] as const)('%s %j for %s', (name, value, to, message) => {
    expect(faultOf({ [name]: value }, to)).toContain(message);
  });

  it.each([
    ['dpi', 'pdf', 'options.dpi is of no use for pdf; it belongs to png, jpeg, webp'],
    ['width', 'svg', 'of no use for svg'],
    ['height', 'html', 'of no use for html'],
    ['quality', 'png', 'options.quality is of no use for png; it belongs to jpeg, webp'],
    ['background', 'pdf', 'it belongs to png, jpeg, webp, svg'],
    ['background', 'html', 'of no use for html'],
  ] as const)('%s is refused for %s, which has no use for it', (name, to, message) => {
    expect(faultOf({ [name]: name === 'background' ? '#fff' : 50 }, to)).toContain(message);
  });

  it('two that decide the same thing', () => {
    expect(faultOf({ dpi: 96, height: 100 }, 'png')).toContain('options.dpi and options.height exclude each other');
  });

  it('names every option in the spelling of the caller', () => {
    for (const name of OPTION_NAMES.filter((option) => option !== 'password'))
      expect(faultOf({ [name]: {} }, 'jpeg')).toMatch(new RegExp(`^options\\.${name}: \\{\\}`));
  });

  it('shows no more of a long value than needed', () => {
    expect(faultOf({ background: 'x'.repeat(10_000) }, 'png').length).toBeLessThan(250);
  });
});

describe('colours', () => {
  it.each([
    ['#fff', [255, 255, 255], 1],
    ['#1A2b3C', [26, 43, 60], 1],
    ['#1238', [17, 34, 51], 0x88 / 255],
    ['#11223300', [17, 34, 51], 0],
    ['Transparent', [0, 0, 0], 0],
  ] as const)('%s', (text, color, alpha) => {
    expect(parseColor(text)).toEqual({ color, alpha });
  });

  it.each(['', '#', '#12', '#12345', '#1234567', '#ggg', 'red', 'fff', '#fff;'])('no colour: %j', (text) => {
    expect(parseColor(text)).toBeUndefined();
  });
});
