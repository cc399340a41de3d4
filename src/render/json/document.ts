/** What a document says beside its pages. */
import { createHash } from 'node:crypto';
import type {
  Attachment,
  DocumentFacts,
  DocumentInfo,
  OutlineEntry,
  Permissions,
  SignatureFacts,
  ViewerPreferences,
} from '../../display/facts.js';
import { jsonPageTarget, jsonTarget } from './link.js';
import { given, jsonBox } from './values.js';

export function jsonDocument(facts: DocumentFacts): object {
  return given({
    first_page: facts.firstPage,
    page_count: facts.pageCount,
    info: jsonInfo(facts.info),
    outline: facts.outline.map(jsonEntry),
    destinations: facts.destinations.map(({ name, target }) => ({ name, target: jsonPageTarget(target) })),
    attachments: facts.attachments.map(jsonAttachment),
    signatures: facts.signatures().map(jsonSignature),
    preferences: jsonPreferences(facts.preferences),
    permissions: facts.permissions && jsonPermissions(facts.permissions),
    opening: facts.opening && jsonPageTarget(facts.opening),
  });
}

function jsonInfo(info: DocumentInfo): object {
  return given({
    id: info.id,
    title: info.title,
    author: info.author,
    subject: info.subject,
    abstract: info.abstract,
    keywords: info.keywords,
    creator: info.creator,
    creator_version: info.creatorVersion,
    creation_date: info.creationDate,
    modification_date: info.modificationDate,
    usage: info.usage,
    custom_data: info.customData?.map(({ name, value }) => ({ name, value })),
  });
}

function jsonEntry({ title, target, isExpanded, children }: OutlineEntry): object {
  return given({
    title,
    target: target && jsonTarget(target),
    expanded: isExpanded,
    children: children.map(jsonEntry),
  });
}

/** Size and hash are those of the bytes, whatever the document says; both are left out where there are none. */
function jsonAttachment(attachment: Attachment): object {
  const bytes = attachment.bytes();
  return given({
    name: attachment.name,
    format: attachment.format,
    creation_date: attachment.creationDate,
    modification_date: attachment.modificationDate,
    visible: attachment.isVisible,
    usage: attachment.usage,
    size_bytes: bytes?.length,
    sha256: bytes && createHash('sha256').update(bytes).digest('hex'),
  });
}

function jsonSignature(signature: SignatureFacts): object {
  return given({
    id: signature.id,
    kind: signature.hasSeal ? 'seal' : 'sign',
    seal_name: signature.sealName,
    provider: signature.provider,
    method: signature.method,
    date: signature.dateTime,
    digest_method: signature.digestMethod,
    signed_parts: signature.signedParts,
    stamps: signature.stamps.map(({ pageNumber, box }) => ({ page: pageNumber, box: jsonBox(box) })),
  });
}

const PAGE_MODES = {
  fullScreen: 'full_screen',
  outline: 'outline',
  thumbnails: 'thumbnails',
  layers: 'layers',
  attachments: 'attachments',
  tags: 'tags',
  bookmarks: 'bookmarks',
} as const satisfies Record<NonNullable<ViewerPreferences['pageMode']>, string>;

const PAGE_LAYOUTS = {
  onePage: 'one_page',
  oneColumn: 'one_column',
  twoPageLeft: 'two_page_left',
  twoColumnLeft: 'two_column_left',
  twoPageRight: 'two_page_right',
  twoColumnRight: 'two_column_right',
} as const satisfies Record<NonNullable<ViewerPreferences['pageLayout']>, string>;

function jsonPreferences(preferences: ViewerPreferences): object {
  const { pageMode, pageLayout } = preferences;
  return given({
    page_mode: pageMode && PAGE_MODES[pageMode],
    page_layout: pageLayout && PAGE_LAYOUTS[pageLayout],
    shows_title: preferences.showsTitle,
    hides_toolbar: preferences.hidesToolbar,
    hides_menubar: preferences.hidesMenubar,
    hides_window: preferences.hidesWindow,
  });
}

function jsonPermissions(permissions: Permissions): object {
  return given({
    edit: permissions.edit,
    annotate: permissions.annotate,
    export: permissions.export,
    sign: permissions.sign,
    watermark: permissions.watermark,
    print_screen: permissions.printScreen,
    print: permissions.print,
    copies: permissions.copies,
    valid_from: permissions.validFrom,
    valid_until: permissions.validUntil,
  });
}
