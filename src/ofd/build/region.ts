/** CT_Region: the hot areas of an action. */
import { type Box, Path } from '../../display/geometry.js';
import type { XmlElement } from '../xml.js';
import { arcTo } from './arc.js';

/** The boxes around the areas of a Region, in the space of its owner. */
export function regionBoxes(region: XmlElement): Box[] {
  return region.childrenNamed('Area').flatMap((area) => areaPath(area).controlBounds() ?? []);
}

function areaPath(area: XmlElement): Path {
  const path = new Path();
  let at = area.position('Start') ?? { x: 0, y: 0 };
  path.moveTo(at.x, at.y);
  for (const command of area.children) {
    const [first, second, third] = ['Point1', 'Point2', 'Point3'].map((name) => command.position(name));
    const end = third ?? second ?? first ?? command.position('EndPoint');
    if (end === undefined) continue;
    if (command.name === 'Move') {
      path.moveTo(end.x, end.y);
    } else if (command.name === 'Arc') {
      const [rx = 0, ry = rx] = command.array('EllipseSize') ?? [];
      const isLarge = command.boolean('LargeArc') === true;
      const isClockwise = command.boolean('SweepDirection') === true;
      const angle = command.number('RotationAngle') ?? 0;
      arcTo(path, { x0: at.x, y0: at.y, rx, ry, angle, isLarge, isClockwise, x: end.x, y: end.y });
    } else {
      for (const point of [first, second, third]) if (point !== undefined) path.lineTo(point.x, point.y);
    }
    at = end;
  }
  return path;
}
