/** Dates as producers write them, in the forms of PDF and XMP. */

/** Separators or none, a time or none, a zone or none. */
const DATE =
  /^\s*(?:D:)?(\d{4})(?:[-/.年]?(\d{1,2})(?:[-/.月]?(\d{1,2})日?)?)?(?:[T\s]*(\d{1,2})[:时]?(\d{2})(?:[:分]?(\d{2}))?秒?(?:[.,]\d+)?)?\s*(Z|[+-]\d{2}(?:[:']?\d{2})?)?'?\s*$/i;

/** A time without zone is China's. */
const DEFAULT_ZONE = '+08:00';

interface ParsedDate {
  /** `2020-01-25` */
  readonly day: string;
  /** `15:31:56`; undefined for a day without time. */
  readonly time: string | undefined;
  /** `+08:00` or `Z` */
  readonly zone: string;
}

/** A date in PDF's form, `D:20200125153156+08'00`; undefined for what is no date. */
export function pdfDate(text: string): string | undefined {
  const date = parseDate(text);
  if (date === undefined) return undefined;
  const day = `D:${date.day.replaceAll('-', '')}`;
  return date.time === undefined ? day : `${day}${date.time.replaceAll(':', '')}${date.zone.replace(':', "'")}`;
}

/** A date in XMP's form, `2020-01-25T15:31:56+08:00`; undefined for what is no date. */
export function xmpDate(text: string): string | undefined {
  const date = parseDate(text);
  if (date === undefined) return undefined;
  return date.time === undefined ? date.day : `${date.day}T${date.time}${date.zone}`;
}

function parseDate(text: string): ParsedDate | undefined {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [, year = '', month = '1', day = '1', hour, minute = '0', second = '0', zone] = match;
  const isDate = inRange(month, 1, 12) && inRange(day, 1, daysOf(Number(year), Number(month)));
  if (!isDate || !inRange(hour ?? '0', 0, 23) || !inRange(minute, 0, 59) || !inRange(second, 0, 59)) return undefined;
  return {
    day: `${year}-${twoDigits(month)}-${twoDigits(day)}`,
    time: hour === undefined ? undefined : [hour, minute, second].map(twoDigits).join(':'),
    zone: zoneOf(zone),
  };
}

function zoneOf(zone: string | undefined): string {
  if (zone === undefined) return DEFAULT_ZONE;
  if (/z/i.test(zone)) return 'Z';
  const digits = zone.replace(/\D/g, '').padEnd(4, '0');
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function inRange(digits: string, least: number, most: number): boolean {
  const value = Number(digits);
  return value >= least && value <= most;
}

function twoDigits(digits: string): string {
  return digits.padStart(2, '0');
}
