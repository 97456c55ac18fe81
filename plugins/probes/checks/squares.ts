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
const squareSize = 64;

/**
 * Draws a PNG of four squares in two rows.
 *
 * @param names colours of the squares, the upper row first
 */
export function drawSquares(names: readonly string[]): Buffer {
  const imageSize = 2 * squareSize;
  const rows = Array.from({ length: imageSize }, (_, y) => {
    const row = Array.from({ length: imageSize }, (__, x) => {
      const name = names[2 * Math.floor(y / squareSize) + Math.floor(x / squareSize)] ?? '';
      return colours[name] ?? [128, 128, 128];
    });
    return [0, ...row.flat()]; // no filter
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(imageSize, 0);
  header.writeUInt32BE(imageSize, 4);
  header.set([8, 2], 8); // 8 bits of each colour
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    encodeChunk('IHDR', header),
    encodeChunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    encodeChunk('IEND', Buffer.alloc(0)),
  ]);
}

function encodeChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  const lengthAndChecksum = Buffer.alloc(8);
  lengthAndChecksum.writeUInt32BE(data.length, 0);
  lengthAndChecksum.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([lengthAndChecksum.subarray(0, 4), content, lengthAndChecksum.subarray(4)]);
}
