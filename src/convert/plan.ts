/** Which engines make which pair of formats, step by step, and the lane it runs in (contract B1, B3). */
import { ServiceError } from '../errors.js';
import type { FormatId } from '../formats.js';

export type EngineName = 'ofd' | 'pdf' | 'pictures' | 'markdown' | 'libreoffice' | 'chromium';

/** One engine's part: a file of one format becomes files of another. */
export interface Step {
  readonly engine: EngineName;
  readonly from: FormatId;
  readonly to: FormatId;
}

export interface Plan {
  /** Decided here, written into the job, never changed. */
  readonly lane: 'fast' | 'heavy';
  /** At least one; what a step makes is what the next one takes. */
  readonly steps: readonly Step[];
}

/** Engines that are not there, with the configuration key that would bring each. */
export type AbsentEngines = ReadonlyMap<EngineName, string>;

interface Engine {
  readonly name: EngineName;
  /** As a message calls it. */
  readonly title: string;
  readonly lane: 'fast' | 'heavy';
  readonly accepts: readonly FormatId[];
  readonly produces: readonly FormatId[];
}

const OF_A_DOCUMENT: readonly FormatId[] = ['pdf', 'html', 'json', 'txt', 'md', 'png', 'jpeg', 'webp', 'svg'];
const OFFICE: readonly FormatId[] = ['doc', 'docx', 'odt', 'rtf', 'xls', 'xlsx', 'ods', 'csv', 'ppt', 'pptx', 'odp'];

const ENGINES: readonly Engine[] = [
  { name: 'ofd', title: 'the OFD engine', lane: 'fast', accepts: ['ofd'], produces: OF_A_DOCUMENT },
  { name: 'pdf', title: 'the PDF engine', lane: 'fast', accepts: ['pdf'], produces: OF_A_DOCUMENT },
  {
    name: 'pictures',
    title: 'the picture engine',
    lane: 'fast',
    accepts: ['png', 'jpeg', 'webp', 'tiff', 'bmp'],
    produces: ['pdf'],
  },
  { name: 'markdown', title: 'the Markdown engine', lane: 'fast', accepts: ['md'], produces: ['html'] },
  { name: 'libreoffice', title: 'LibreOffice', lane: 'heavy', accepts: [...OFFICE, 'txt'], produces: ['pdf'] },
  { name: 'chromium', title: 'Chromium', lane: 'heavy', accepts: ['html', 'mhtml'], produces: ['pdf'] },
];

/**
 * The shortest way from one format to another over the engines that are there.
 * @throws ServiceError `unsupported_conversion`, which says what is missing
 */
export function planFor(from: FormatId, to: FormatId, absent: AbsentEngines = new Map()): Plan {
  const present = ENGINES.filter(({ name }) => !absent.has(name));
  const steps = wayThrough(present, from, to);
  if (!steps) throw unsupported(from, to, absent);
  const lanes = steps.map(({ engine }) => ENGINES.find(({ name }) => name === engine)?.lane);
  return { lane: lanes.includes('heavy') ? 'heavy' : 'fast', steps };
}

function readableFormats(absent: AbsentEngines): readonly FormatId[] {
  return [...new Set(ENGINES.filter(({ name }) => !absent.has(name)).flatMap(({ accepts }) => accepts))];
}

/** Breadth first, in the order of the table: the same way each time. */
function wayThrough(engines: readonly Engine[], from: FormatId, to: FormatId): readonly Step[] | undefined {
  const seen = new Set<FormatId>();
  let ways: (readonly Step[])[] = [[]];
  while (ways.length > 0) {
    const longer: (readonly Step[])[] = [];
    for (const way of ways) {
      const at = way.at(-1)?.to ?? from;
      for (const { name, accepts, produces } of engines) {
        if (!accepts.includes(at)) continue;
        const step = (format: FormatId): Step => ({ engine: name, from: at, to: format });
        if (produces.includes(to)) return [...way, step(to)];
        for (const format of produces.filter((candidate) => !seen.has(candidate))) {
          seen.add(format);
          longer.push([...way, step(format)]);
        }
      }
    }
    ways = longer;
  }
  return undefined;
}

function unsupported(from: FormatId, to: FormatId, absent: AbsentEngines): ServiceError {
  const missing = wayThrough(ENGINES, from, to)?.find(({ engine }) => absent.has(engine));
  const options = { reason: 'unsupported' } as const;
  if (missing) {
    const title = ENGINES.find(({ name }) => name === missing.engine)?.title;
    return new ServiceError(
      'unsupported_conversion',
      `${from} to ${to} needs ${title}, which is not there: ${absent.get(missing.engine)}`,
      options,
    );
  }
  const readable = readableFormats(absent);
  return new ServiceError(
    'unsupported_conversion',
    readable.includes(from)
      ? `output.format: no engine makes ${to} from ${from}; from ${from} there are ${reachable(from, absent).join(', ')}`
      : `input: no engine reads ${from}, so ${from} to ${to} is missing; what can be read is ${readable.join(', ')}`,
    options,
  );
}

function reachable(from: FormatId, absent: AbsentEngines): readonly FormatId[] {
  const present = ENGINES.filter(({ name }) => !absent.has(name));
  return [...new Set(ENGINES.flatMap(({ produces }) => produces))].filter((to) => wayThrough(present, from, to));
}
