/** Canvases that items are painted on: the page, and pictures of groups that are put onto it as one. */
import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import type { Box, Matrix } from '../../display/geometry.js';
import type { BlendMode } from '../../display/list.js';

export interface Target {
  readonly context: SKRSContext2D;
  /** Whole pixels of this canvas that painting may still change. */
  readonly box: Box;
}

/** How a finished layer goes onto what is below it. */
export interface LayerEffect {
  readonly alpha: number;
  readonly operation: SKRSContext2D['globalCompositeOperation'];
}

/** Pixels that all layers standing at once may have, times the page's own. */
const LAYER_PAGES = 4;

/** Hands out layers within a budget: a document can nest 64 groups of the page's size. */
export class Layers {
  #pixelsLeft: number;
  /** The last one, for the next of its size: groups of a kind often follow each other. */
  #spare: Canvas | undefined;

  constructor(pagePixels: number) {
    this.#pixelsLeft = pagePixels * LAYER_PAGES;
  }

  /**
   * Paints `draw` on an empty canvas over the target's box and puts the result onto the target as one picture.
   * `draw` gets the canvas and the shift from the target's pixels to its own. False, with nothing painted, where
   * the budget is used up.
   */
  async paint(
    target: Target,
    effect: LayerEffect,
    draw: (layer: Target, shift: Matrix) => Promise<void> | void,
  ): Promise<boolean> {
    const { context, box } = target;
    const pixels = box.width * box.height;
    if (pixels > this.#pixelsLeft) return false;
    this.#pixelsLeft -= pixels;
    const canvas = this.#blank(box.width, box.height);
    const layer = { context: canvas.getContext('2d'), box: { x: 0, y: 0, width: box.width, height: box.height } };
    await draw(layer, [1, 0, 0, 1, -box.x, -box.y]);
    this.#pixelsLeft += pixels;
    context.save();
    context.resetTransform();
    context.globalAlpha *= effect.alpha;
    context.globalCompositeOperation = effect.operation;
    context.drawImage(canvas, box.x, box.y);
    context.restore();
    this.#putBack(canvas);
    return true;
  }

  /** Gives back what is kept; the layers can be used on. */
  release(): void {
    if (this.#spare !== undefined) releasePixels(this.#spare);
    this.#spare = undefined;
  }

  #blank(width: number, height: number): Canvas {
    const spare = this.#spare;
    if (spare?.width !== width || spare.height !== height) return createCanvas(width, height);
    this.#spare = undefined;
    const context = spare.getContext('2d');
    context.reset();
    context.clearRect(0, 0, width, height);
    return spare;
  }

  #putBack(canvas: Canvas): void {
    this.release();
    this.#spare = canvas;
  }
}

/** Gives the pixels back at once: the collector sees small objects only, and waits while gigabytes stand behind them. */
export function releasePixels(canvas: Canvas): void {
  canvas.width = 1;
  canvas.height = 1;
}

export function compositeOperation(mode: BlendMode): LayerEffect['operation'] {
  return mode === 'normal' ? 'source-over' : mode;
}

export function setMatrix(context: SKRSContext2D, m: Matrix): void {
  context.setTransform(m[0], m[1], m[2], m[3], m[4], m[5]);
}
