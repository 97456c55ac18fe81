import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { paymentsSection } from '#core/business/payments/section.ts';
import { type Host, perCatalog } from '#core/gateway/host/host.ts';

/** The QRIS logo from the operator's file. */
export interface Mark {
  readonly width: number;
  readonly height: number;
  /** Grey values on white, 0 is black. */
  readonly pixels: Uint8Array;
  /** Data URL of the image for pages. */
  readonly dataUrl: string;
}

/** Limits of the file, since pages embed it; `side` in px. */
const most = { bytes: 100_000, side: 2_000 };
/** Offsets in the PNG file, counted from the signature. */
const place = { width: 16, height: 20, depth: 24, end: 33 };

const kept = perCatalog((host) => ({ mark: load(host) }));

/** Loads the logo once per configuration. Undefined without a file, or if the file is invalid, which is logged. */
export function markOf(host: Host): Promise<Mark | undefined> {
  return kept(host).mark;
}

async function load(host: Host): Promise<Mark | undefined> {
  const path = markPath(host);
  if (path === undefined) return undefined;
  try {
    return await readMark(path);
  } catch (error) {
    host.log.error(`payments.qris_mark: ${path} cannot be used: ${(error as Error).message}`);
    return undefined;
  }
}

export function markPath({ section, dataFolder }: Pick<Host, 'section' | 'dataFolder'>): string | undefined {
  const { qris_mark: file } = section(paymentsSection);
  return file === undefined ? undefined : resolve(dataFolder, file);
}

/** @throws Error that describes what is wrong with the file */
export async function readMark(path: string): Promise<Mark> {
  const { size } = await stat(path);
  if (size > most.bytes) throw new Error(`it has ${size} bytes; use one of ${most.bytes} at most`);
  const png = await readFile(path);
  const { convertIndexedToRgb, decode, hasPngSignature } = await import('fast-png');
  if (png.length < place.end || !hasPngSignature(png)) throw new Error('it is not a PNG');
  const sides = [png.readUInt32BE(place.width), png.readUInt32BE(place.height)];
  // Checked before decoding: a small file can contain billions of pixels.
  if (sides.some((side) => side > most.side))
    throw new Error(`it is ${sides.join(' by ')} px; use ${most.side} at most`);
  if (png[place.depth] !== 8) throw new Error('it has no 8 bits a channel; save it with them');
  const image = decode(png);
  const { width, height, palette } = image;
  const data = palette === undefined ? image.data : convertIndexedToRgb(image);
  const pixels = toGrey(data, width * height);
  return { width, height, pixels, dataUrl: `data:image/png;base64,${png.toString('base64')}` };
}

/** @param data of one to four channels: grey, grey with alpha, RGB, RGBA */
function toGrey(data: ArrayLike<number>, count: number): Uint8Array {
  const channels = data.length / count;
  return Uint8Array.from({ length: count }, (_, pixel) => {
    const at = pixel * channels;
    const read = (channel: number) => data[at + channel] ?? 0;
    const grey = channels < 3 ? read(0) : 0.299 * read(0) + 0.587 * read(1) + 0.114 * read(2);
    const alpha = channels % 2 === 0 ? read(channels - 1) / 255 : 1;
    return Math.round(255 + (grey - 255) * alpha);
  });
}
