import { inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { encodePng } from '#core/platform/png.ts';

it.each([
  { pixels: [0, 255, 128, 7], colourType: 0 },
  { pixels: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], colourType: 2 },
])(
  'an image of colour type $colourType has its pixels after the filter of each row',
  async ({ pixels, colourType }) => {
    const png = await encodePng({ width: 2, height: 2, pixels: Uint8Array.from(pixels) });
    expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
    expect([png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]).toEqual([2, 2, 8, colourType]);
    const start = png.indexOf('IDAT') + 4;
    const middle = pixels.length / 2;
    expect([...inflateSync(png.subarray(start, start + png.readUInt32BE(start - 8)))]).toEqual([
      0,
      ...pixels.slice(0, middle),
      0,
      ...pixels.slice(middle),
    ]);
  },
);
