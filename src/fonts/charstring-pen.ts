/** Draws what charstrings say: relative steps from a current point, contours that close by themselves. */
import type { Path } from '../display/geometry.js';

export class CharstringPen {
  x = 0;
  y = 0;
  readonly #path: Path;
  #isOpen = false;

  constructor(path: Path, x = 0, y = 0) {
    this.#path = path;
    this.x = x;
    this.y = y;
  }

  move(dx: number, dy: number): void {
    this.close();
    this.x += dx;
    this.y += dy;
  }

  line(dx: number, dy: number): void {
    this.#open();
    this.x += dx;
    this.y += dy;
    this.#path.lineTo(this.x, this.y);
  }

  curve(dx1: number, dy1: number, dx2: number, dy2: number, dx3: number, dy3: number): void {
    this.#open();
    const x1 = this.x + dx1;
    const y1 = this.y + dy1;
    const x2 = x1 + dx2;
    const y2 = y1 + dy2;
    this.x = x2 + dx3;
    this.y = y2 + dy3;
    this.#path.cubicTo(x1, y1, x2, y2, this.x, this.y);
  }

  /** Ends the contour where one is open; the current point stays. */
  close(): void {
    if (this.#isOpen) this.#path.close();
    this.#isOpen = false;
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#path.moveTo(this.x, this.y);
  }
}
