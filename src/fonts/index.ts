/** The door of the font folder. */
export { FontBook, type FontRequest, type ResolvedFont } from './book.js';
export type { FontSource } from './source.js';
export { type SubsetFont, subsetFace } from './subset.js';
