import { crc32, deflateSync } from 'node:zlib';

/** RGB values of the colours in a picture. */
export const colours: Readonly<Record<string, readonly [number, number, number]>> = {
  red: [220, 20, 30],
  green: [20, 150, 40],
  blue: [20, 60, 220],
  yellow: [250, 220, 20],
  black: [0, 0, 0],
  white: [255, 255, 255],
};

/** Width and height of one square, pixels. */
const size = 64;

/**
 * Draws a PNG of four squares in two rows.
 *
 * @param names colours of the squares, the upper row first
 */
export function drawSquares(names: readonly string[]): Buffer {
  const side = 2 * size;
  const rows = Array.from({ length: side }, (_, y) => {
    const row = Array.from({ length: side }, (__, x) => {
      const name = names[2 * Math.floor(y / size) + Math.floor(x / size)] ?? '';
      return colours[name] ?? [128, 128, 128];
    });
    return [0, ...row.flat()]; // no filter
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2], 8); // 8 bits of each colour
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([ends.subarray(0, 4), content, ends.subarray(4)]);
}
