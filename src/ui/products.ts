/** What a job has made, as the reader's files and as pictures on the page. */
import { call, type Job } from './api.js';
import { button, make, save } from './elements.js';
import { downloads } from './lane.js';
import { bytesText, text } from './text.js';

/** Pictures that are shown of a document. */
export const MOST_SHEETS = 12;

/**
 * Saves what a job has made, several products as one archive.
 * @param base name of the document without its extension; the products' own names where it is not known
 * @returns no button where the service keeps nothing of it
 */
export function downloadButtons(
  job: Job,
  base: string | undefined,
  onFault: (error: unknown) => void,
): HTMLButtonElement[] {
  const { id, state, output } = job;
  const [first, ...others] = output?.products ?? [];
  if (state !== 'succeeded' || output?.kind !== 'dir' || !first) return [];
  const isOne = others.length === 0;
  const name = isOne ? (base === undefined ? first.name : `${base}.${job.to}`) : `${base ?? id}.zip`;
  const label = (): string => (isOne ? `${text('download')} (${bytesText(first.size)})` : text('downloadAll'));
  return [button(label, () => fetchContent(id).then((blob) => save(blob, name), onFault))];
}

function fetchContent(id: string, name?: string): Promise<Blob> {
  const query = name === undefined ? '' : `?name=${encodeURIComponent(name)}`;
  return downloads.run(async () => (await call(`v1/jobs/${id}/content${query}`)).blob());
}

/** Fills `sheets` with the first pictures that a job has made, as they come. */
export async function showSheets({ id, output }: Job, sheets: HTMLElement): Promise<void> {
  for (const { name } of output?.products.slice(0, MOST_SHEETS) ?? []) {
    const url = URL.createObjectURL(await fetchContent(id, name));
    const picture = make('img', { src: url, alt: name });
    picture.addEventListener('load', () => URL.revokeObjectURL(url), { once: true });
    sheets.append(make('figure', {}, picture, make('figcaption', { textContent: name })));
  }
}
