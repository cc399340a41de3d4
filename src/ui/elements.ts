/** Making elements: text is always text, never markup. */
import { say } from './text.js';

type Properties<Name extends keyof HTMLElementTagNameMap> = Partial<
  Pick<
    HTMLElementTagNameMap[Name],
    keyof HTMLElementTagNameMap[Name] & ('className' | 'hidden' | 'textContent' | 'title' | 'id')
  >
> &
  Partial<HTMLElementTagNameMap[Name]>;

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties<Name> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

/** An element of index.html. */
export function named<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`index.html has no ${kind.name} with the id ${id}`);
}

/**
 * A button that does one thing at a time. It is never `disabled`, which would take the focus from it.
 * @param isSpent whether it has nothing to do any more
 */
export function button(label: () => string, onClick: () => unknown, isSpent = () => false): HTMLButtonElement {
  const element = say(make('button', { type: 'button' }), label);
  const work = async (): Promise<void> => {
    if (element.ariaDisabled === 'true') return;
    element.ariaDisabled = 'true';
    try {
      await onClick();
    } finally {
      element.ariaDisabled = String(isSpent());
    }
  };
  element.addEventListener('click', () => void work());
  return element;
}

/** Saves bytes as a file of the reader's machine. */
export function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
