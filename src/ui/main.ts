/** The page at `/`: documents in, products out, and how the service is. It uses the HTTP interface that everybody uses. */
import { Conversion } from './conversion.js';
import { make, named } from './elements.js';
import { JobWatch } from './job-watch.js';
import { adoptKey, currentKey, may, onRefusal, setKey } from './keys.js';
import { Overview } from './overview.js';
import { say, switchLanguage, text, translatePage } from './text.js';

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
const unconvertible = named('unconvertible', HTMLParagraphElement);
const conversions = named('conversions', HTMLOListElement);
const language = named('language', HTMLButtonElement);

const watch = new JobWatch();
const overview = new Overview(watch);

function showKeyForm(isShown: boolean, fault: () => string = () => ''): void {
  const wasHidden = keyForm.hidden;
  keyForm.hidden = !isShown;
  changeKey.ariaExpanded = String(isShown);
  say(keyFault, fault);
  if (isShown && wasHidden) keyInput.focus();
}

/** What the key may do, as far as is known. */
function showWhatIsAllowed(): void {
  overview.showWhatIsRead();
  say(unconvertible, () => (may('convert') ? '' : text('unconvertible')));
  const hasFocus = form.contains(document.activeElement);
  form.hidden = !may('convert');
  if (form.hidden && hasFocus) changeKey.focus();
}

function translate(): void {
  files.setCustomValidity('');
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
  const kind = may('read') || PAGE_FORMATS.includes(to) ? 'dir' : 'stream';
  const started = chosen.map((file) => new Conversion({ file, to, kind, options: optionsGiven() }, watch));
  conversions.prepend(...started.map(({ element }) => element));
  for (const conversion of started) void conversion.start();
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
  changeKey.focus();
  showWhatIsAllowed();
  overview.start();
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

onRefusal((isRefused) => {
  showWhatIsAllowed();
  if (isRefused) showKeyForm(true, () => text('wrongKey'));
});
if (currentKey() === null) showKeyForm(true);
overview.start();
