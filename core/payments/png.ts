import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

const compress = promisify(deflate);
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * Writes a square of black and white cells as PNG, one bit a pixel. Libraries write four bytes a pixel, which takes half a
 * second of the event loop at this size.
 *
 * @param side cells
 * @param scale pixels of a cell
 */
export async function writePng(
  side: number,
  scale: number,
  isDark: (x: number, y: number) => boolean,
): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side * scale, 0);
  header.writeUInt32BE(side * scale, 4);
  header.set([1, 0, 0, 0, 0], 8); // one bit, grey, deflate, default filters, not interlaced
  const rows = Array.from({ length: side }, (_, y) => {
    const row = drawRow(side, scale, (x) => isDark(x, y));
    return Array.from({ length: scale }, () => row);
  });
  const data = await compress(Buffer.concat(rows.flat()));
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

/** A row of pixels behind the number of its filter, which is none. */
function drawRow(side: number, scale: number, isDark: (x: number) => boolean): Buffer {
  const row = Buffer.alloc(1 + Math.ceil((side * scale) / 8));
  for (let pixel = 0; pixel < side * scale; pixel++) {
    const light = isDark(Math.floor(pixel / scale)) ? 0 : 0x80;
    const byte = 1 + (pixel >> 3);
    row[byte] = (row[byte] ?? 0) | (light >> (pixel & 7));
  }
  return row;
}

/** Length, type, data and checksum. */
function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)]);
}
