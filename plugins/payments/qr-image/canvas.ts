import { encodePng } from '#core/platform/png.ts';
import { getGlyph, capitalHeight } from './glyphs.ts';

interface GrayImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array; // row by row; 0 is black
}

/** Lengths are in px. A text wider than `maxWidth` is scaled down. */
interface TextLayout {
  readonly left: number;
  readonly top: number; // of the capital letters
  readonly size: number; // height of the capital letters
  readonly pen: number; // stroke width
  readonly maxWidth: number;
}

export class Canvas {
  readonly width: number;
  readonly height: number;
  readonly #pixels: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.#pixels = new Uint8Array(width * height).fill(255);
  }

  fillRectangle(left: number, top: number, width: number, height: number): void {
    for (let y = top; y < top + height; y++) this.#pixels.fill(0, y * this.width + left, y * this.width + left + width);
  }

  drawText(text: string, { left, top, size, pen, maxWidth }: TextLayout): void {
    const scale = Math.min(size / capitalHeight, maxWidth / measureText(text));
    let x = left;
    for (const character of text) {
      const glyph = getGlyph(character);
      if (glyph === undefined) continue; // only ASCII has glyphs
      for (const [from, to] of glyph.strokes) {
        this.#stroke(x + from[0] * scale, top + from[1] * scale, x + to[0] * scale, top + to[1] * scale, pen / 2);
      }
      x += glyph.width * scale;
    }
  }

  drawImage(source: GrayImage, left: number, top: number, height: number, maxWidth: number): void {
    const scale = Math.min(height / source.height, maxWidth / source.width);
    const size = { width: Math.floor(source.width * scale), height: Math.floor(source.height * scale) };
    for (let y = 0; y < size.height; y++) {
      const row = (top + y) * this.width + left;
      for (let x = 0; x < size.width; x++) this.#pixels[row + x] = averageBox(source, x / scale, y / scale, 1 / scale);
    }
  }

  #stroke(x1: number, y1: number, x2: number, y2: number, radius: number): void {
    const [left, right] = [Math.floor(Math.min(x1, x2) - radius - 1), Math.ceil(Math.max(x1, x2) + radius + 1)];
    const [top, bottom] = [Math.floor(Math.min(y1, y2) - radius - 1), Math.ceil(Math.max(y1, y2) + radius + 1)];
    for (let y = Math.max(0, top); y <= Math.min(this.height - 1, bottom); y++) {
      for (let x = Math.max(0, left); x <= Math.min(this.width - 1, right); x++) {
        const ink = radius + 0.5 - distance(x, y, x1, y1, x2, y2);
        if (ink <= 0) continue;
        const index = y * this.width + x;
        this.#pixels[index] = Math.min(this.#pixels[index] ?? 0, Math.round(255 * (1 - Math.min(1, ink))));
      }
    }
  }

  toPng(): Promise<Buffer> {
    return encodePng({ width: this.width, height: this.height, pixels: this.#pixels });
  }
}

function averageBox({ width, height, pixels }: GrayImage, left: number, top: number, side: number): number {
  const [fromX, fromY] = [Math.floor(left), Math.floor(top)];
  const toX = Math.min(width, Math.max(fromX + 1, Math.floor(left + side)));
  const toY = Math.min(height, Math.max(fromY + 1, Math.floor(top + side)));
  let sum = 0;
  for (let y = fromY; y < toY; y++) for (let x = fromX; x < toX; x++) sum += pixels[y * width + x] ?? 255;
  return Math.round(sum / ((toX - fromX) * (toY - fromY)));
}

function measureText(text: string): number {
  return [...text].reduce((sum, character) => sum + (getGlyph(character)?.width ?? 0), 0);
}

function distance(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const lengthSquared = dx * dx + dy * dy;
  const along = lengthSquared === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / lengthSquared));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}
