import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

const compress = promisify(deflate);

interface Image {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array; // row by row; one byte (gray) or three (RGB) per pixel
}

/** Encodes an image with 8 bits per channel. Source: W3C, "Portable Network Graphics". */
export async function encodePng({ width, height, pixels }: Image): Promise<Buffer> {
  const rowBytes = pixels.length / height;
  const rows = Buffer.alloc((rowBytes + 1) * height); // each row begins with its filter, 0 for none
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * rowBytes, (y + 1) * rowBytes), y * (rowBytes + 1) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, rowBytes === width ? 0 : 2], 8); // bits per channel, and color type: gray or RGB
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    encodeChunk('IHDR', header),
    encodeChunk('IDAT', await compress(rows)),
    encodeChunk('IEND', Buffer.alloc(0)),
  ]);
}

function encodeChunk(type: string, data: Buffer): Buffer {
  const typedData = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(typedData), 4);
  return Buffer.concat([frame.subarray(0, 4), typedData, frame.subarray(4)]);
}
