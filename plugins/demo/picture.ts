import { inflateSync } from 'node:zlib';
import type { JsonValue } from '#core/platform/json.ts';

const colours: Readonly<Record<string, readonly number[]>> = {
  red: [255, 0, 0],
  green: [0, 128, 0],
  blue: [0, 0, 255],
  yellow: [255, 255, 0],
  black: [0, 0, 0],
  white: [255, 255, 255],
};

const maxPixelBytes = 4_194_304;

/**
 * Describes the colors in the middle of a picture's four quarters, row by row. Returns undefined unless it is a plain PNG in a data URL
 * with 8 bits per color, one chunk of pixels and no filters. Source: W3C, "Portable Network Graphics", sections 5 and 7.
 */
export function describePicture(url: JsonValue | undefined): string | undefined {
  const encoded = /^data:image\/png;base64,(.+)$/s.exec(typeof url === 'string' ? url : '')?.[1];
  if (encoded === undefined) return undefined;
  const png = Buffer.from(encoded, 'base64');
  const start = png.indexOf('IDAT');
  if (start < 33 || png.readUInt16BE(24) !== 0x0802) return undefined;
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const stride = 1 + 3 * width;
  const pixels = inflate(png.subarray(start + 4, start + 4 + png.readUInt32BE(start - 4)));
  if (pixels === undefined || pixels.length !== stride * height) return undefined;
  const readColour = (x: number, y: number) => {
    const offset = stride * Math.floor(height * y) + 1 + 3 * Math.floor(width * x);
    return findNearestColour([...pixels.subarray(offset, offset + 3)]);
  };
  return [readColour(0.25, 0.25), readColour(0.75, 0.25), readColour(0.25, 0.75), readColour(0.75, 0.75)].join(', ');
}

function inflate(data: Buffer): Buffer | undefined {
  try {
    return inflateSync(data, { maxOutputLength: maxPixelBytes });
  } catch {
    return undefined;
  }
}

function findNearestColour(pixel: readonly number[]): string {
  const distance = (colour: readonly number[]) =>
    colour.reduce((sum, value, index) => sum + (value - (pixel[index] ?? 0)) ** 2, 0);
  return Object.entries(colours).reduce((best, candidate) =>
    distance(candidate[1]) < distance(best[1]) ? candidate : best,
  )[0];
}
