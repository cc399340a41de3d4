/** What a document says of itself: title, author and the like, signatures, attachments. */
import { make } from './elements.js';
import { FACTS, type FactName, say, text } from './text.js';

/** Of the JSON output, what is shown here. */
export interface DocumentFacts {
  readonly info?: Readonly<Record<string, unknown>>;
  readonly signatures?: readonly SignatureFacts[];
  readonly attachments?: readonly { readonly name?: string }[];
}

interface SignatureFacts {
  readonly seal_name?: string;
  readonly provider?: { readonly name?: string };
  readonly method?: string;
  readonly date?: string;
}

/** Methods of signatures by object identifier. */
const METHODS: Readonly<Record<string, string>> = {
  '1.2.156.10197.1.501': 'SM2 (SM3)',
  '1.2.840.113549.1.1.5': 'RSA (SHA-1)',
  '1.2.840.113549.1.1.11': 'RSA (SHA-256)',
};

export function factsOf({ info = {}, signatures = [], attachments = [] }: DocumentFacts): readonly Node[] {
  const facts = Object.entries(info).filter(([, value]) => typeof value === 'string');
  const names = attachments.map(({ name }) => name ?? '?').join(', ');
  return [
    list(
      facts.map(
        ([name, value]) =>
          () =>
            `${factName(name)}: ${String(value)}`,
      ),
    ),
    say(make('p'), () => text(signatures.length > 0 ? 'signatures' : 'noSignatures')),
    list(signatures.map((signature) => () => signatureText(signature))),
    ...(names ? [say(make('p'), () => `${text('attachments')}: ${names}`)] : []),
  ];
}

function list(items: readonly (() => string)[]): HTMLElement {
  return make('ul', {}, ...items.map((words) => say(make('li'), words)));
}

function factName(name: string): string {
  return FACTS.includes(name as FactName) ? text(name as FactName) : name;
}

function signatureText({ seal_name, provider, method, date }: SignatureFacts): string {
  return [
    `${text('signedBy')}: ${seal_name ?? provider?.name ?? '?'}`,
    ...(method ? [`${text('method')}: ${METHODS[method] ?? method}`] : []),
    ...(date ? [`${text('date')}: ${date}`] : []),
  ].join(', ');
}
