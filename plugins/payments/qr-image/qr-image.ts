import { Canvas } from './canvas.ts';
import type { Mark } from './mark.ts';
import { modulesOf } from './modules.ts';

interface QrImageTexts {
  readonly title: string; // above the code: the receiver
  readonly amount: string;
  readonly lines: readonly string[]; // below the code: the order and its expiry
  readonly mark?: Mark | undefined;
}

const quietZone = 4; // modules around the code
const minSize = 1024; // px of the code with its quiet zone
const line = 64; // px
const mark = { top: 48, height: 88, space: 104 }; // px

/**
 * Draws a QR code with amount, order and end time, as a PNG of at least 1024 px per side. Buyers save it, and select it from their photos
 * in the payment app.
 */
export async function drawQrImage(
  payload: string,
  { title, amount, lines, mark: image }: QrImageTexts,
): Promise<Buffer> {
  const modules = modulesOf(payload);
  const scale = Math.ceil(minSize / (modules.size + 2 * quietZone));
  const side = scale * (modules.size + 2 * quietZone);
  const edge = quietZone * scale;
  const above = image === undefined ? 0 : mark.space;
  const top = 256 + above;
  const canvas = new Canvas(side, top + side + lines.length * line);
  const width = side - 2 * edge;
  if (image !== undefined) canvas.image(image, edge, mark.top, mark.height, width);
  canvas.text(title, edge, above + 64, 34, 4, width);
  canvas.text(amount, edge, above + 144, 84, 11, width);
  for (let y = 0; y < modules.size; y++) {
    for (let x = 0; x < modules.size; x++) {
      if (modules.get(y, x) !== 0) canvas.fill(edge + x * scale, top + edge + y * scale, scale, scale);
    }
  }
  for (const [index, text] of lines.entries()) canvas.text(text, edge, top + side + index * line - 24, 32, 4, width);
  return canvas.toPng();
}

/** Converts the text to ASCII: accents are removed, and non-breaking spaces become spaces. */
export function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\s/g, ' ')
    .replace(/[^ -~]/g, '');
}
