/** The page at `/`: documents in, products out, and how the service is. It uses the HTTP interface that everybody uses. */
import { adoptKey, currentKey, setKey } from './api.js';
import { Conversion } from './conversion.js';
import { make, named } from './elements.js';
import { Overview } from './overview.js';
import { switchLanguage, text, translatePage } from './text.js';

const FORMATS = ['pdf', 'png', 'jpeg', 'webp', 'svg', 'html', 'txt', 'md', 'json'];
const RASTER_FORMATS = ['png', 'jpeg', 'webp'];
/** A file for each page: no answer holds them all. */
const PAGE_FORMATS = [...RASTER_FORMATS, 'svg'];

const keyForm = named('key-form', HTMLFormElement);
const keyInput = named('key', HTMLInputElement);
const keyFault = named('key-fault', HTMLParagraphElement);
const changeKey = named('change-key', HTMLButtonElement);
const form = named('convert-form', HTMLFormElement);
const drop = named('drop', HTMLLabelElement);
const files = named('file', HTMLInputElement);
const format = named('format', HTMLSelectElement);
const pages = named('pages', HTMLInputElement);
const dpi = named('dpi', HTMLInputElement);
const password = named('password', HTMLInputElement);
const dpiField = named('dpi-field', HTMLDivElement);
const conversions = named('conversions', HTMLOListElement);
const language = named('language', HTMLButtonElement);

const overview = new Overview(() => showKeyForm(true, text('wrongKey')));

function showKeyForm(isShown: boolean, fault = ''): void {
  const wasHidden = keyForm.hidden;
  keyForm.hidden = !isShown;
  changeKey.ariaExpanded = String(isShown);
  keyFault.textContent = fault;
  if (isShown && wasHidden) keyInput.focus();
}

function translate(): void {
  translatePage();
  language.textContent = text('otherLanguage');
  overview.translate();
}

function showFields(): void {
  dpiField.hidden = !RASTER_FORMATS.includes(format.value);
}

function optionsGiven(): Record<string, string> {
  const given: Record<string, string> = { pages: pages.value.trim(), password: password.value };
  if (!dpiField.hidden) given.dpi = dpi.value.trim();
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

function convert(chosen: readonly File[]): void {
  files.setCustomValidity(chosen.length === 0 ? text('noFile') : '');
  files.reportValidity();
  const to = format.value;
  const kind = overview.mayRead || PAGE_FORMATS.includes(to) ? 'dir' : 'stream';
  for (const file of chosen) {
    const conversion = new Conversion({ file, to, kind, options: optionsGiven() }, () => void overview.refresh());
    conversions.prepend(conversion.element);
    void conversion.start();
  }
}

adoptKey();
format.append(...FORMATS.map((name) => make('option', { value: name, textContent: name.toUpperCase() })));
format.addEventListener('change', showFields);
showFields();
translate();

language.addEventListener('click', () => {
  switchLanguage();
  translate();
});
changeKey.addEventListener('click', () => showKeyForm(keyForm.hidden !== false));
keyForm.addEventListener('submit', (event) => {
  event.preventDefault();
  setKey(keyInput.value.trim());
  keyInput.value = '';
  showKeyForm(false);
  void overview.refresh();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  convert([...(files.files ?? [])]);
});
files.addEventListener('change', () => files.setCustomValidity(''));
for (const name of ['dragenter', 'dragover']) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
}
for (const name of ['dragleave', 'drop']) drop.addEventListener(name, () => drop.classList.remove('over'));
drop.addEventListener('drop', (event) => {
  event.preventDefault();
  convert([...(event.dataTransfer?.files ?? [])]);
});
// A document that misses the field must not take the page's place.
for (const name of ['dragover', 'drop']) document.addEventListener(name, (event) => event.preventDefault());

if (currentKey() === null) showKeyForm(true);
overview.start();
