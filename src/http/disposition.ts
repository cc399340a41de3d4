/** The Content-Disposition header of a download, for names in any script (RFC 6266, RFC 5987). */

/** Old clients read the plain name, in which what is not ASCII becomes `_`; the rest read the one in UTF-8. */
export function attachment(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/gu, '_');
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
