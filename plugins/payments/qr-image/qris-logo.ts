import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { paymentsSection } from '#core/business/payments/section.ts';
import { type Host, memoizePerCatalog } from '#core/gateway/host/host.ts';

export interface QrisLogo {
  readonly width: number;
  readonly height: number;
  /** Gray values on white; 0 is black. */
  readonly pixels: Uint8Array;
  readonly dataUrl: string;
}

const limits = { bytes: 100_000, side: 2_000 }; // pages embed the file; `side` is in px
const offsets = { width: 16, height: 20, depth: 24, headerEnd: 33 }; // bytes in the PNG file

const cachedLogo = memoizePerCatalog((host) => ({ logo: readConfiguredLogo(host) }));

/** Returns undefined if there is no logo, or if its file is invalid, which is logged. */
export function loadQrisLogo(host: Host): Promise<QrisLogo | undefined> {
  return cachedLogo(host).logo;
}

async function readConfiguredLogo(host: Host): Promise<QrisLogo | undefined> {
  const path = resolveLogoPath(host);
  if (path === undefined) return undefined;
  try {
    return await readQrisLogo(path);
  } catch (error) {
    host.log.error(`payments.qris_mark: ${path} cannot be used: ${(error as Error).message}`);
    return undefined;
  }
}

export function resolveLogoPath({ section, dataFolder }: Pick<Host, 'section' | 'dataFolder'>): string | undefined {
  const { qris_mark: file } = section(paymentsSection);
  return file === undefined ? undefined : resolve(dataFolder, file);
}

/** @throws Error with the reason if the file cannot be used */
export async function readQrisLogo(path: string): Promise<QrisLogo> {
  const { size } = await stat(path);
  if (size > limits.bytes) throw new Error(`it is ${size} bytes; the limit is ${limits.bytes}`);
  const png = await readFile(path);
  const { convertIndexedToRgb, decode, hasPngSignature } = await import('fast-png');
  if (png.length < offsets.headerEnd || !hasPngSignature(png)) throw new Error('it is not a PNG');
  const dimensions = [png.readUInt32BE(offsets.width), png.readUInt32BE(offsets.height)];
  // Checked before decoding, because a small file can hold billions of pixels.
  if (dimensions.some((side) => side > limits.side))
    throw new Error(`it is ${dimensions.join(' x ')} px; the maximum is ${limits.side} per side`);
  if (png[offsets.depth] !== 8) throw new Error('it must have 8 bits per channel');
  const image = decode(png);
  const { width, height, palette, transparency } = image;
  const samples = palette === undefined ? image.data : convertIndexedToRgb(image);
  const pixels = toGray(samples, width * height, palette === undefined ? transparency : undefined);
  return { width, height, pixels, dataUrl: `data:image/png;base64,${png.toString('base64')}` };
}

/**
 * @param samples one to four per pixel: gray, gray with alpha, RGB, RGBA
 * @param transparent samples of the one transparent color of a gray or RGB image (PNG tRNS chunk)
 */
function toGray(samples: ArrayLike<number>, pixelCount: number, transparent?: ArrayLike<number>): Uint8Array {
  const channels = samples.length / pixelCount;
  return Uint8Array.from({ length: pixelCount }, (_, pixel) => {
    const sampleAt = (channel: number) => samples[pixel * channels + channel] ?? 0;
    if (
      transparent?.length === channels &&
      Array.from(transparent).every((sample, channel) => sample === sampleAt(channel))
    )
      return 255;
    const gray = channels < 3 ? sampleAt(0) : 0.299 * sampleAt(0) + 0.587 * sampleAt(1) + 0.114 * sampleAt(2);
    const alpha = channels % 2 === 0 ? sampleAt(channels - 1) / 255 : 1;
    return Math.round(255 + (gray - 255) * alpha);
  });
}
