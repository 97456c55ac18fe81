import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { decode, encode } from 'fast-png';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawQrImage } from '../../../../plugins/payments/qr-image/qr-image.ts';
import { readQrisLogo } from '../../../../plugins/payments/qr-image/qris-logo.ts';
import { readQr } from '../../../support/read-qr.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-mark-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(folder, `${crypto.randomUUID()}.png`);
  await writeFile(path, bytes);
  return path;
}

/** Two pixels, black and white; what is transparent counts as white. */
const images = [
  ['grey', { channels: 1, data: new Uint8Array([0, 255]) }],
  ['grey with alpha', { channels: 2, data: new Uint8Array([0, 255, 0, 0]) }],
  ['RGB', { channels: 3, data: new Uint8Array([0, 0, 0, 255, 255, 255]) }],
  ['RGBA', { channels: 4, data: new Uint8Array([0, 0, 0, 255, 0, 0, 0, 0]) }],
] as const;

/** Marks one colour as transparent with a tRNS chunk after the header. */
function withTransparent(png: Uint8Array, colour: readonly number[]): Uint8Array {
  const content = Buffer.concat([Buffer.from('tRNS'), ...colour.map((sample) => Buffer.from([0, sample]))]);
  const chunk = Buffer.alloc(content.length + 8);
  chunk.writeUInt32BE(content.length - 4);
  content.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(content), content.length + 4);
  return Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]);
}

/** A small file that says that it is large. */
function bomb(): Uint8Array {
  const png = Buffer.from(encode({ width: 1, height: 1, channels: 1, depth: 8, data: new Uint8Array([0]) }));
  png.writeUInt32BE(60_000, 16);
  return png;
}

describe('the QRIS mark of a file', () => {
  it.each(images)('of the kind %s is read as black on white', async (_kind, image) => {
    const path = await fileOf(encode({ width: 2, height: 1, depth: 8, ...image }));
    const { width, height, pixels, dataUrl } = await readQrisLogo(path);
    expect([width, height, [...pixels]]).toEqual([2, 1, [0, 255]]);
    expect(dataUrl).toMatch(/^data:image\/png;base64,iVBOR/);
  });

  it.each([
    ['grey', 1, [7]],
    ['RGB', 3, [7, 8, 9]],
  ] as const)('of the kind %s has one transparent colour', async (_kind, channels, colour) => {
    const others = colour.map(() => 0);
    const data = new Uint8Array([...colour, ...others, ...colour, ...others]);
    const png = withTransparent(encode({ width: 4, height: 1, depth: 8, channels, data }), colour);
    expect([...(await readQrisLogo(await fileOf(png))).pixels]).toEqual([255, 0, 255, 0]);
  });

  it.each([
    ['is no PNG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'), /not a PNG/],
    ['is empty', Buffer.alloc(0), /not a PNG/],
    ['is too large', Buffer.alloc(100_001), /is 100001 bytes; the limit is 100000/],
    ['says that it has billions of pixels', bomb(), /60000 x 1 px/],
    [
      'has 16 bits a channel',
      encode({ width: 1, height: 1, channels: 1, depth: 16, data: new Uint16Array([0]) }),
      /8 bits/,
    ],
  ])('that %s is refused', async (_what, bytes, message) => {
    await expect(readQrisLogo(await fileOf(bytes))).rejects.toThrow(message);
  });

  it('stands above receiver and amount on the saved picture, whose code reads as before', async () => {
    const data = new Uint8Array(300 * 100).fill(0);
    const mark = await readQrisLogo(await fileOf(encode({ width: 300, height: 100, channels: 1, depth: 8, data })));
    const texts = { title: 'DAYPASS', amount: 'Rp 95.000', lines: ['Order'] };
    const [without, withMark] = [
      await drawQrImage('a code', texts),
      await drawQrImage('a code', { ...texts, logo: mark }),
    ];
    expect(readQr(withMark).text).toBe('a code');
    const picture = decode(withMark);
    expect(picture.height).toBe(decode(without).height + 104);
    const black = picture.data.subarray(48 * picture.width, 136 * picture.width).filter((value) => value === 0);
    // 88 px high, three times as wide.
    expect(black.length).toBe(88 * 264);
  });
});
