import { decode } from 'fast-png';
import jsqr from 'jsqr';

// The package is CommonJS, although its types say otherwise.
const scan = jsqr as unknown as typeof jsqr.default;

/** Expects 8 bits per channel, as in a screenshot. Throws an Error if there is no QR code. */
export function readQr(png: Uint8Array): { readonly text: string; readonly width: number; readonly height: number } {
  const { width, height, data, channels } = decode(png);
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let at = 0; at < width * height; at++) {
    for (let channel = 0; channel < 4; channel++) {
      const isGrey = channels < 3;
      const value = channel === 3 ? 255 : data[at * channels + (isGrey ? 0 : channel)];
      pixels[at * 4 + channel] = value ?? 0;
    }
  }
  const text = scan(pixels, width, height)?.data;
  if (text === undefined) throw new Error(`no QR code in a picture of ${width} by ${height} pixels`);
  return { text, width, height };
}
