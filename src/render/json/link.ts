/** Where links lead, as the JSON has it. */
import type { LinkTarget, PageTarget, PageView } from '../../display/link.js';
import { given, mm, rounded } from './values.js';

export function jsonTarget(target: LinkTarget): object {
  switch (target.kind) {
    case 'uri':
      return { kind: 'uri', uri: target.uri };
    case 'page':
      return jsonPageTarget(target);
    case 'attachment':
      return { kind: 'attachment', name: target.name };
  }
}

export function jsonPageTarget({ pageNumber, view }: PageTarget): object {
  return { kind: 'page', page: pageNumber, view: jsonView(view) };
}

const VIEW_NAMES: Readonly<Record<PageView['kind'], string>> = {
  xyz: 'xyz',
  fit: 'fit',
  fitH: 'fit_width',
  fitV: 'fit_height',
  fitR: 'fit_rectangle',
};

function jsonView(view: PageView): object {
  const { kind, ...lengths } = view;
  const { zoom, ...places } = lengths as { zoom?: number } & Readonly<Record<string, number>>;
  const named = Object.entries(places).map(([name, value]) => [`${name}_mm`, mm(value)]);
  return given({ kind: VIEW_NAMES[kind], ...Object.fromEntries(named), zoom: zoom && rounded(zoom, 4) });
}
