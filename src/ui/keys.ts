/** The key of this tab, and the scopes that it turned out to lack. */

export type Scope = 'read' | 'convert' | 'admin';

const STORED = 'ofd-server-key';

/** The key: out of the address once (`#key=…`), then of this tab alone. */
export function adoptKey(): void {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key === null) return;
  setKey(key);
  history.replaceState(null, '', location.pathname);
}

export function setKey(key: string): void {
  sessionStorage.setItem(STORED, key);
}

export function currentKey(): string | null {
  return sessionStorage.getItem(STORED);
}

/** What a key lacks it cannot get while the page is open: it is not tried again. */
const lacking = new Set<string>();
const listeners: ((isRefused: boolean) => void)[] = [];

/** Calls back whenever a key has turned out to lack a scope, or to be none (`isRefused`). */
export function onRefusal(listener: (isRefused: boolean) => void): void {
  listeners.push(listener);
}

/** Whether the current key has the scope, as far as is known. */
export function may(scope: Scope): boolean {
  return !lacking.has(`${scope} ${currentKey()}`);
}

export function noteLack(scope: Scope, key: string | null): void {
  if (lacking.has(`${scope} ${key}`)) return;
  lacking.add(`${scope} ${key}`);
  for (const listener of listeners) listener(false);
}

/** The service does not know this key; another one that was given meanwhile stays. */
export function forgetKey(key: string | null): void {
  if (key === null || currentKey() !== key) return;
  sessionStorage.removeItem(STORED);
  for (const listener of listeners) listener(true);
}
