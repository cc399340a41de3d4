/** Line and colour properties of an object: its own, its DrawParam's with the chain of Relative, its container's. */
import type { ResourceTable } from '../resources.js';
import type { XmlElement } from '../xml.js';

/** A colour element, with the resources that its references mean. */
export interface ColorSource {
  readonly element: XmlElement;
  readonly resources: ResourceTable;
  /** Opacity 0…255 of an element without a value that takes its colour from further out. */
  readonly alpha?: number;
}

/** Properties as written, nothing defaulted: absent means that whoever stands further out decides. */
export interface Style {
  readonly lineWidth?: number;
  readonly cap?: string;
  readonly join?: string;
  readonly miterLimit?: number;
  readonly dashOffset?: number;
  /** As written, to be cleaned where it is used. */
  readonly dashPattern?: readonly number[];
  readonly fillColor?: ColorSource;
  readonly strokeColor?: ColorSource;
}

export const EMPTY_STYLE: Style = {};

type MutableStyle = { -readonly [K in keyof Style]: Style[K] };

/** Properties that stand on the element itself; the shared empty style where there are none. */
export function ownStyle(element: XmlElement, resources: ResourceTable): Style {
  const style: MutableStyle = {};
  let isEmpty = true;
  for (const name of element.attributeNames()) {
    if (readAttribute(style, element, name)) isEmpty = false;
  }
  for (const child of element.children) {
    if (child.name === 'FillColor') style.fillColor ??= { element: child, resources };
    else if (child.name === 'StrokeColor') style.strokeColor ??= { element: child, resources };
    else continue;
    isEmpty = false;
  }
  return isEmpty ? EMPTY_STYLE : style;
}

function readAttribute(style: MutableStyle, element: XmlElement, name: string): boolean {
  switch (name) {
    case 'LineWidth':
      return set(style, 'lineWidth', element.number(name));
    case 'Cap':
      return set(style, 'cap', element.attribute(name)?.trim());
    case 'Join':
      return set(style, 'join', element.attribute(name)?.trim());
    case 'MiterLimit':
      return set(style, 'miterLimit', element.number(name));
    case 'DashOffset':
      return set(style, 'dashOffset', element.number(name));
    case 'DashPattern':
      // `null` and the like state a solid line, so they hide a pattern further out.
      return set(style, 'dashPattern', element.array(name) ?? []);
    default:
      return false;
  }
}

function set<K extends keyof Style>(style: MutableStyle, key: K, value: Style[K] | undefined): boolean {
  if (value === undefined) return false;
  style[key] = value;
  return true;
}

/** `near` with its gaps filled from `far`. */
export function overlay(near: Style, far: Style): Style {
  if (near === EMPTY_STYLE || near === far) return far;
  if (far === EMPTY_STYLE) return near;
  const style: MutableStyle = { ...far, ...near };
  const fill = overlayColor(near.fillColor, far.fillColor);
  const stroke = overlayColor(near.strokeColor, far.strokeColor);
  if (fill !== undefined) style.fillColor = fill;
  if (stroke !== undefined) style.strokeColor = stroke;
  return style;
}

/** A colour element without a value (`<StrokeColor/>`) takes the colour from further out and keeps its own opacity. */
function overlayColor(near: ColorSource | undefined, far: ColorSource | undefined): ColorSource | undefined {
  if (near === undefined) return far;
  if (far === undefined || !isBlankColor(near.element)) return near;
  const alpha = near.alpha ?? near.element.integer('Alpha');
  return alpha === undefined ? far : { ...far, alpha };
}

/** Whether a colour is one colour, no shading or pattern. */
export function isPlainColor(element: XmlElement): boolean {
  return element.children.length === 0;
}

function isBlankColor(element: XmlElement): boolean {
  if (!isPlainColor(element) || element.attribute('Index') !== undefined) return false;
  return (element.attribute('Value')?.trim() ?? '') === '';
}

/** Styles of DrawParams, resolved once for each table they are looked up in. */
export class DrawParams {
  readonly #maxDepth: number;
  readonly #onFault: (code: 'reference_missing' | 'reference_ring', id: string) => void;
  readonly #styles = new WeakMap<ResourceTable, Map<string, Style>>();

  /** `onFault` hears of references to DrawParams that are not there or lead back, once for each table. */
  constructor(maxDepth: number, onFault: (code: 'reference_missing' | 'reference_ring', id: string) => void) {
    this.#maxDepth = maxDepth;
    this.#onFault = onFault;
  }

  /** What the DrawParam `id` states, with what it inherits through `Relative`; a ring ends at its first repeat. */
  style(resources: ResourceTable, id: string): Style {
    let styles = this.#styles.get(resources);
    if (styles === undefined) {
      styles = new Map();
      this.#styles.set(resources, styles);
    }
    let style = styles.get(id);
    if (style === undefined) {
      style = this.#resolve(resources, id);
      styles.set(id, style);
    }
    return style;
  }

  #resolve(resources: ResourceTable, id: string): Style {
    let style = EMPTY_STYLE;
    const seen = new Set<string>();
    let next: string | undefined = id;
    while (next !== undefined) {
      if (seen.has(next) || seen.size >= this.#maxDepth) {
        this.#onFault('reference_ring', next);
        break;
      }
      seen.add(next);
      const element: XmlElement | undefined = resources.find('drawParam', next)?.element;
      if (element === undefined) {
        this.#onFault('reference_missing', next);
        break;
      }
      style = overlay(style, ownStyle(element, resources));
      next = element.id('Relative');
    }
    return style;
  }

  /** All that holds for `element`, standing in a container whose own properties are `inherited`. */
  styleOf(element: XmlElement, resources: ResourceTable, inherited: Style): Style {
    const id = element.id('DrawParam');
    const outer = id === undefined ? inherited : overlay(this.style(resources, id), inherited);
    return overlay(ownStyle(element, resources), outer);
  }
}
