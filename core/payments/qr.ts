import { create, toString } from 'qrcode';
import { writePng } from './png.ts';

/*
 * QR codes for phones that scan a screen: error correction M, a quiet zone of four modules, black on white also in dark
 * mode, whole pixels for each module.
 */

const margin = 4; // modules
const minModule = 4; // px of a module
const minImage = 320; // px of a side
const errorCorrectionLevel = 'M';

/** An SVG that scales to any size. It has no inline style, which our content security policy forbids. */
export async function qrSvg(payload: string): Promise<string> {
  const { side, scale } = measure(payload, minImage);
  const color = { dark: '#000000', light: '#ffffff' };
  const svg = await toString(payload, { errorCorrectionLevel, margin, color, width: side * scale, type: 'svg' });
  return svg.trim();
}

/** A PNG of at least `minSize` pixels a side, for downloads. */
export async function qrPng(payload: string, minSize = 1024): Promise<Buffer> {
  const { modules, side, scale } = measure(payload, minSize);
  const isDark = (x: number, y: number) =>
    x >= margin && y >= margin && x < side - margin && y < side - margin && modules.get(y - margin, x - margin) === 1;
  return writePng(side, scale, isDark);
}

/** The modules, how many a side has with its quiet zone, and the pixels of one. */
function measure(payload: string, minSize: number) {
  const { modules } = create(payload, { errorCorrectionLevel });
  const side = modules.size + 2 * margin;
  return { modules, side, scale: Math.max(minModule, Math.ceil(minSize / side)) };
}
