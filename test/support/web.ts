// Web pages for tests: a picture, MHTML archives, and the processes of a browser.
import { readdirSync, readFileSync } from 'node:fs';

/** One red pixel, PNG in base64. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

interface Archive {
  /** Of the page at https://example.com/page.html. */
  readonly html: string;
  readonly parts?: readonly (readonly [type: string, headers: string, bytes: Buffer])[];
}

/** An MHTML archive as browsers save them. */
export function archive({ html, parts = [] }: Archive): string {
  const all = [
    ['text/html; charset=utf-8', 'Content-Location: https://example.com/page.html', Buffer.from(html)] as const,
  ];
  const lines = [
    'From: <Saved by a test>',
    'Snapshot-Content-Location: https://example.com/page.html',
    'MIME-Version: 1.0',
    'Content-Type: multipart/related; type="text/html"; boundary="BOUNDARY"',
    '',
    '',
    ...[...all, ...parts].flatMap(([type, headers, bytes]) => [
      '--BOUNDARY',
      `Content-Type: ${type}`,
      'Content-Transfer-Encoding: base64',
      headers,
      '',
      ...(bytes.toString('base64').match(/.{1,76}/g) ?? []),
      '',
    ]),
    '--BOUNDARY--',
    '',
  ];
  return lines.join('\r\n');
}

/** Ids of running processes whose command line names a path below `folder`. */
export async function processesUnder(folder: string): Promise<number[]> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => pid !== process.pid && commandLine(pid).includes(`${folder}/`));
}

/** "" of one that has ended. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
