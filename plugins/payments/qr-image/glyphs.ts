import hershey from './hershey.json' with { type: 'json' };

/*
 * Glyphs for images: "Sans 1-stroke" of the Hershey fonts, drawn by Dr. A. V. Hershey at the U.S. National Bureau of Standards. James Hurt
 * created their digital form, which may be used freely. Each glyph is a width and SVG-like paths, in units in which a capital letter is 21
 * high.
 */

type Point = readonly [x: number, y: number];

interface Glyph {
  readonly width: number;
  readonly strokes: readonly (readonly [from: Point, to: Point])[];
}

export const capitalHeight = 21;

const glyphs = new Map<string, Glyph>();

export function getGlyph(character: string): Glyph | undefined {
  const cachedGlyph = glyphs.get(character);
  const text = (hershey as Readonly<Record<string, string>>)[character];
  if (cachedGlyph !== undefined || text === undefined) return cachedGlyph;
  const glyph = parseGlyph(text);
  glyphs.set(character, glyph);
  return glyph;
}

/** Parses a glyph such as `11 M4,-3 L4,29 17,2`: the width, then moves, each followed by lines. */
function parseGlyph(text: string): Glyph {
  const [width = 0] = text.split(' ', 1).map(Number);
  const strokes = text.split('M').slice(1).flatMap(parsePath);
  return { width, strokes };
}

function parsePath(path: string): (readonly [Point, Point])[] {
  const points = [...path.matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]): Point => [Number(x), Number(y) - 1]);
  return points.slice(1).map((point, index) => [points[index] as Point, point] as const);
}
