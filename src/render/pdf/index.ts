/** The door of the PDF backend. */
export { pdfBackend } from './document.js';
