import { decode } from 'fast-png';
import jsqr from 'jsqr';
import { describe, expect, it } from 'vitest';
import { qrPng, qrSvg } from '#core/payments/qr.ts';

const payload =
  '00020101021226690017ID.CO.EXAMPLE.WWW01189360000100000000120215EXAMPLE000000010303UMI51440014ID.CO.QRIS.WWW0215ID10200000000010303UMI5204573453033605405250005802ID5912GATEWAY DEMO6007JAKARTA61051011062350110ORD-7F3K2M0510INV00000010703A01630465DA';

/** Four bytes a pixel, as decoders of QR codes want them. */
function pixelsOf(png: Buffer) {
  const { width, height, data, depth } = decode(png);
  const rowBytes = data.length / height;
  const pixels = new Uint8ClampedArray(width * height * 4).fill(255);
  for (let at = 0; at < width * height; at++) {
    const x = at % width;
    const byte = data[Math.floor(at / width) * rowBytes + (x >> 3)] ?? 0;
    if (((byte >> (7 - (x & 7))) & 1) === 0) pixels.fill(0, at * 4, at * 4 + 3);
  }
  return { width, height, depth, data: pixels };
}

// The package is CommonJS, and its types say that it is not.
const readQr = jsqr as unknown as typeof jsqr.default;

describe('the PNG of a payload', () => {
  it('is read back by another decoder', async () => {
    const { data, width, height } = pixelsOf(await qrPng(payload));
    expect(readQr(data, width, height)?.data).toBe(payload);
  });

  it('of 512 characters is read back as well', async () => {
    const longest = payload.padEnd(512, 'A');
    const { data, width, height } = pixelsOf(await qrPng(longest));
    expect(readQr(data, width, height)?.data).toBe(longest);
  });

  it('has at least 1024 pixels, a whole number of them in each module', async () => {
    const { width, height, depth } = pixelsOf(await qrPng(payload));
    expect(depth).toBe(1);
    expect(width).toBeGreaterThanOrEqual(1024);
    expect([height, width % 61]).toEqual([width, 0]); // version 9 with error correction M: 53 modules, and 4 on each side
  });

  it('is black on white, with a quiet zone of four modules', async () => {
    const { width, data } = pixelsOf(await qrPng(payload));
    const scale = width / 61;
    const pixel = (x: number, y: number) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)];
    const inside = 4 * scale;
    expect(pixel(inside, inside)).toEqual([0, 0, 0, 255]);
    expect([pixel(inside - 1, inside), pixel(inside, inside - 1)]).toEqual([
      [255, 255, 255, 255],
      [255, 255, 255, 255],
    ]);
  });
});

describe('the SVG of a payload', () => {
  it('has at least 4 pixels a module and no inline style', async () => {
    const svg = await qrSvg(payload);
    const [, width] = /^<svg [^>]*width="(\d+)"/.exec(svg) ?? [];
    expect(Number(width) / 61).toBeGreaterThanOrEqual(4);
    expect(Number(width)).toBeGreaterThanOrEqual(320);
    expect(svg).not.toMatch(/style|script/);
    expect(svg).toContain('fill="#ffffff"');
  });
});
