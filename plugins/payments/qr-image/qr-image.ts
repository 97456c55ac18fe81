import { Canvas } from './canvas.ts';
import { computeModules, quietZone } from './modules.ts';
import type { QrisLogo } from './qris-logo.ts';

interface QrImageContent {
  readonly title: string; // above the code: the receiver
  readonly amount: string;
  readonly lines: readonly string[]; // below the code: the order and its expiry
  readonly logo?: QrisLogo | undefined;
}

const minSize = 1024; // px of the code, including its quiet zone
const lineSpacing = 64; // px
const logoLayout = { top: 48, height: 88, space: 104 }; // px

/** Buyers save the image and pick it from their photos in the payment app. */
export async function drawQrImage(payload: string, { title, amount, lines, logo }: QrImageContent): Promise<Buffer> {
  const modules = computeModules(payload);
  const scale = Math.ceil(minSize / (modules.size + 2 * quietZone));
  const side = scale * (modules.size + 2 * quietZone);
  const edge = quietZone * scale;
  const logoSpace = logo === undefined ? 0 : logoLayout.space;
  const top = 256 + logoSpace;
  const canvas = new Canvas(side, top + side + lines.length * lineSpacing);
  const width = side - 2 * edge;
  if (logo !== undefined) canvas.drawImage(logo, edge, logoLayout.top, logoLayout.height, width);
  const box = { left: edge, maxWidth: width };
  canvas.drawText(title, { ...box, top: logoSpace + 64, size: 34, pen: 4 });
  canvas.drawText(amount, { ...box, top: logoSpace + 144, size: 84, pen: 11 });
  for (let y = 0; y < modules.size; y++) {
    for (let x = 0; x < modules.size; x++) {
      if (modules.get(y, x) !== 0) canvas.fillRectangle(edge + x * scale, top + edge + y * scale, scale, scale);
    }
  }
  for (const [index, text] of lines.entries())
    canvas.drawText(text, { ...box, top: top + side + index * lineSpacing - 24, size: 32, pen: 4 });
  return canvas.toPng();
}

/** Removes accents, and turns non-breaking spaces into spaces. */
export function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\s/g, ' ')
    .replace(/[^ -~]/g, '');
}
