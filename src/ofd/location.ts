/** Locations inside a package (ST_Loc): how a string in the XML becomes the path of an entry. Paths have no leading slash. */

/** The names of a package as a lookup needs them. */
export interface PartNames {
  /** Whether there is an entry of exactly this path. */
  has(path: string): boolean;
  /** The real path of the entry whose name differs at most in case. */
  findIgnoringCase(path: string): string | undefined;
  /** The real path of the only entry whose last segment is `baseName` (case aside); undefined where none or several. */
  findByBaseName(baseName: string): string | undefined;
}

/** The folder of a part: '' for one in the root, else without trailing slash. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? '' : path.slice(0, slash);
}

/** Slashes for backslashes, no blanks around, no empty or '.' segments, '..' taken back and held at the root. */
export function normalisePath(path: string): string {
  const kept: string[] = [];
  for (const segment of path.trim().replaceAll('\\', '/').split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return kept.join('/');
}

/** Whether a location starts at the root of the package. */
export function isAbsolute(location: string): boolean {
  return /^\s*[/\\]/.test(location);
}

/** The path that `location` means when it stands in a part of `baseFolder`. */
export function joinLocation(baseFolder: string, location: string): string {
  return normalisePath(isAbsolute(location) ? location : `${baseFolder}/${location.trim()}`);
}

/**
 * The entry that `location` means, tried in each folder in turn and then from the root: as written, percent-decoded,
 * then both without regard to case. Undefined where the package has no such entry.
 */
export function resolveLocation(parts: PartNames, location: string, folders: readonly string[]): string | undefined {
  const candidates = folders.map((folder) => joinLocation(folder, location));
  candidates.push(joinLocation('', location));
  return findCandidate(parts, candidates);
}

/**
 * The entry that a resource file names (`MediaFile`, `FontFile`, `ColorSpace/@Profile`), by the rule of `Res/@BaseLoc`
 * and, failing that, in the places where producers put it (format reference 1.3).
 *
 * @param target the location as written
 * @param resPath path of the resource file that holds it
 * @param baseLoc that file's `BaseLoc` as written; '' where absent
 * @param documentFolder folder of Document.xml
 */
export function resolveResource(
  parts: PartNames,
  target: string,
  resPath: string,
  baseLoc: string,
  documentFolder: string,
): string | undefined {
  if (normalisePath(target) === '') return undefined;
  const resFolder = folderOf(resPath);
  const candidates = [
    joinLocation(joinLocation(resFolder, baseLoc), target),
    joinLocation(documentFolder, target),
    joinLocation('', target),
    joinLocation(joinLocation(documentFolder, baseLoc), target),
    joinLocation(resFolder, target),
    joinLocation(documentFolder, `Res/${target.trim()}`),
  ];
  return findCandidate(parts, candidates) ?? parts.findByBaseName(baseNameOf(normalisePath(target)));
}

function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function findCandidate(parts: PartNames, candidates: readonly string[]): string | undefined {
  const decoded = candidates.map(percentDecoded);
  const exact = candidates.find((path) => parts.has(path)) ?? decoded.find((path) => parts.has(path));
  if (exact !== undefined) return exact;
  for (const path of [...candidates, ...decoded]) {
    const real = parts.findIgnoringCase(path);
    if (real !== undefined) return real;
  }
  return undefined;
}

/** `path` with its percent escapes undone, or as it is where they are none or not UTF-8. */
function percentDecoded(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return normalisePath(decodeURIComponent(path));
  } catch {
    return path;
  }
}
