/** Small line charts of the last minutes, drawn by hand: a number now, and how it came about. */
import { make } from './elements.js';
import { type TextName, text } from './text.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 120;
const HEIGHT = 40;
const MOST_VALUES = 120;

export class Chart {
  readonly element: HTMLElement;
  readonly #name: TextName;
  readonly #shown: (value: number) => string;
  readonly #values: number[] = [];
  readonly #label = make('span');
  readonly #number = make('strong');
  readonly #line = document.createElementNS(SVG, 'polyline');
  readonly #drawing = document.createElementNS(SVG, 'svg');

  constructor(name: TextName, shown: (value: number) => string = (value) => String(value)) {
    this.#name = name;
    this.#shown = shown;
    this.#drawing.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    this.#drawing.setAttribute('preserveAspectRatio', 'none');
    this.#drawing.setAttribute('role', 'img');
    this.#drawing.append(this.#line);
    const caption = make('figcaption', {}, this.#label, this.#number);
    this.element = make('figure', { className: 'chart' }, caption, this.#drawing);
    this.translate();
  }

  translate(): void {
    this.#label.textContent = text(this.#name);
    this.#describe();
  }

  add(value: number): void {
    this.#values.push(value);
    if (this.#values.length > MOST_VALUES) this.#values.shift();
    const most = Math.max(...this.#values, 1);
    const step = WIDTH / (MOST_VALUES - 1);
    const first = MOST_VALUES - this.#values.length;
    const points = this.#values.map(
      (each, index) =>
        `${((first + index) * step).toFixed(1)},${(HEIGHT - 2 - (each / most) * (HEIGHT - 4)).toFixed(1)}`,
    );
    this.#line.setAttribute('points', points.join(' '));
    this.#describe();
  }

  #describe(): void {
    const last = this.#values.at(-1);
    const shown = last === undefined ? '' : this.#shown(last);
    this.#number.textContent = shown;
    this.#drawing.setAttribute('aria-label', `${text(this.#name)}: ${shown}`);
  }
}
