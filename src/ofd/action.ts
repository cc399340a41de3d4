/** Actions: where a click, or the opening of the document, leads. */
import type { LinkTarget, PageTarget, PageView } from '../display/link.js';
import type { Report } from '../display/list.js';
import { linkUri } from '../display/uri.js';
import { factLine } from './fact-text.js';
import type { XmlElement } from './xml.js';

/** What the names in an action mean in its document. */
export interface ActionContext {
  /** Number of a page through all documents, from 1. */
  pageNumberOf(pageId: string): number | undefined;
  bookmark(name: string): PageTarget | undefined;
  /** Name of the attachment with that ID. */
  attachmentName(id: string): string | undefined;
  /** Notes that an action leads to what the document does not have. */
  dangling(kind: 'page' | 'bookmark' | 'attachment', name: string): void;
  /** How many of `count` more links may be kept; fewer, with a diagnostic, where the document has too many. */
  takeLinks(count: number): number;
  readonly report: Report;
}

/** Events of an action; other words count as a click, which is what producers mean by them. */
export type ActionEvent = 'DO' | 'PO' | 'CLICK';

const MAX_ZOOM = 64;

/** The actions of an event in an `Actions` element. */
export function actionsOf(list: XmlElement | undefined, event: ActionEvent): XmlElement[] {
  return list?.childrenNamed('Action').filter((action) => eventOf(action) === event) ?? [];
}

function eventOf(action: XmlElement): ActionEvent {
  const event = action.attribute('Event')?.trim().toUpperCase();
  return event === 'DO' || event === 'PO' ? event : 'CLICK';
}

/** Where an action leads; undefined, with a diagnostic, where nothing of it can be kept. */
export function targetOf(action: XmlElement, context: ActionContext): LinkTarget | undefined {
  for (const element of action.children) {
    switch (element.name) {
      case 'Goto':
        return gotoTarget(element, context);
      case 'URI':
        return uriTarget(element, context);
      case 'GotoA':
        return attachmentTarget(element, context);
      case 'Sound':
      case 'Movie':
        dropped(context, `An action that plays a ${element.name === 'Sound' ? 'sound' : 'film'} is left out`);
        return undefined;
    }
  }
  const kind = action.children.find(({ name }) => name !== 'Region')?.name;
  dropped(context, kind === undefined ? 'An action that does nothing is left out' : `An action ${kind} is left out`);
  return undefined;
}

function gotoTarget(element: XmlElement, context: ActionContext): PageTarget | undefined {
  const dest = element.child('Dest');
  if (dest !== undefined) return pageTarget(dest, context);
  const name = factLine(element.child('Bookmark')?.attribute('Name') ?? '');
  const target = context.bookmark(name);
  if (target === undefined) context.dangling('bookmark', name);
  return target;
}

function uriTarget(element: XmlElement, context: ActionContext): LinkTarget | undefined {
  const written = element.attribute('URI') ?? element.text;
  const uri = linkUri(written, element.attribute('Base'));
  if (uri !== undefined) return { kind: 'uri', uri };
  dropped(context, `A link to "${written.trim().slice(0, 80)}" is left out: it is no address that is safe to follow`);
  return undefined;
}

function attachmentTarget(element: XmlElement, context: ActionContext): LinkTarget | undefined {
  const id = element.id('AttachID');
  const name = id === undefined ? undefined : context.attachmentName(id);
  if (name !== undefined) return { kind: 'attachment', name };
  context.dangling('attachment', id ?? '');
  return undefined;
}

/** The page of a Dest; undefined, with a diagnostic, where the document has no such page. */
export function pageTarget(dest: XmlElement, context: ActionContext): PageTarget | undefined {
  const id = dest.id('PageID');
  const pageNumber = id === undefined ? undefined : context.pageNumberOf(id);
  if (pageNumber !== undefined) return { kind: 'page', pageNumber, view: viewOf(dest) };
  context.dangling('page', id ?? '');
  return undefined;
}

/** A rectangle that is none counts as its corner. */
function viewOf(dest: XmlElement): PageView {
  const [left, top, right, bottom] = ['Left', 'Top', 'Right', 'Bottom'].map((name) => dest.number(name));
  const fromLeft = left === undefined ? {} : { left };
  const fromTop = top === undefined ? {} : { top };
  switch (dest.attribute('Type')?.trim().toLowerCase()) {
    case 'fit':
      return { kind: 'fit' };
    case 'fith':
      return { kind: 'fitH', ...fromTop };
    case 'fitv':
      return { kind: 'fitV', ...fromLeft };
    case 'fitr': {
      const [x = 0, y = 0] = [left, top];
      if (right !== undefined && bottom !== undefined && right > x && bottom > y) {
        return { kind: 'fitR', left: x, top: y, right, bottom };
      }
    }
  }
  const zoom = dest.number('Zoom');
  return {
    kind: 'xyz',
    ...fromLeft,
    ...fromTop,
    ...(zoom !== undefined && zoom > 0 ? { zoom: Math.min(zoom, MAX_ZOOM) } : {}),
  };
}

function dropped(context: ActionContext, message: string): void {
  context.report({ code: 'action_dropped', message });
}
