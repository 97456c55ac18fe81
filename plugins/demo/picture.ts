import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

export interface Size {
  readonly width: number; // pixels
  readonly height: number;
}

/** Five by seven dots a letter, a row a line. */
const letters = [
  ['####.', '#...#', '#...#', '#...#', '#...#', '#...#', '####.'],
  ['#####', '#....', '#....', '####.', '#....', '#....', '#####'],
  ['#...#', '##.##', '#.#.#', '#.#.#', '#...#', '#...#', '#...#'],
  ['.###.', '#...#', '#...#', '#...#', '#...#', '#...#', '.###.'],
] as const;
const columns = letters.length * 6 - 1;
const rows = 7;

const white = 255;
const steps = 254; // of the gradient
const compress = promisify(deflate);

/**
 * Draws the word DEMO on a gradient whose colours come from the seed, as a PNG with a palette.
 *
 * @param share how much of the picture is there, from the top, 0 to 1; the rest is white
 * @see https://www.w3.org/TR/png-3/
 */
export async function drawPicture(seed: string, { width, height }: Size, share = 1): Promise<Buffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits a pixel, palette, no interlace
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', drawPalette(crc32(seed))),
    chunk('IDAT', await compress(drawPixels({ width, height }, Math.round(height * share)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** From one colour of the seed to another; the last entry is white. */
function drawPalette(seed: number): Buffer {
  const palette = Buffer.alloc(256 * 3, 255);
  for (let step = 0; step <= steps; step++) {
    for (let channel = 0; channel < 3; channel++) {
      const from = (seed >>> (channel * 8)) & 0xbf;
      const to = (seed >>> (channel * 5 + 7)) & 0xbf;
      palette[step * 3 + channel] = Math.round(from + ((to - from) * step) / steps);
    }
  }
  return palette;
}

/** One byte a pixel; each line begins with its filter, none. */
function drawPixels({ width, height }: Size, shown: number): Buffer {
  const pixels = Buffer.alloc((width + 1) * height, white);
  const dot = Math.max(1, Math.floor(Math.min(width / (columns + 4), height / (rows + 4))));
  const left = Math.floor((width - columns * dot) / 2);
  const top = Math.floor((height - rows * dot) / 2);
  for (let y = 0; y < height; y++) {
    const line = y * (width + 1);
    pixels[line] = 0;
    const row = Math.floor((y - top) / dot);
    if (y >= shown) continue;
    for (let x = 0; x < width; x++) {
      if (isInk(Math.floor((x - left) / dot), row)) continue;
      pixels[line + 1 + x] = Math.round(((x + y) * steps) / (width + height));
    }
  }
  return pixels;
}

function isInk(column: number, row: number): boolean {
  if (column < 0) return false;
  return letters[Math.floor(column / 6)]?.[row]?.[column % 6] === '#';
}

/** Length, type, data and a check sum over the latter two. */
function chunk(type: string, data: Buffer): Buffer {
  const framed = Buffer.alloc(data.length + 12);
  framed.writeUInt32BE(data.length, 0);
  framed.write(type, 4, 'latin1');
  data.copy(framed, 8);
  framed.writeUInt32BE(crc32(framed.subarray(4, data.length + 8)), data.length + 8);
  return framed;
}
