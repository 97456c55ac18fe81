import { encodePng } from '#core/platform/png.ts';

export const colours: Readonly<Record<string, readonly [number, number, number]>> = {
  red: [220, 20, 30],
  green: [20, 150, 40],
  blue: [20, 60, 220],
  yellow: [250, 220, 20],
  black: [0, 0, 0],
  white: [255, 255, 255],
};

const squareSize = 64;

/** @param names colors of the squares, upper row first */
export function drawSquares(names: readonly string[]): Promise<Buffer> {
  const imageSize = 2 * squareSize;
  const pixels = Array.from({ length: imageSize * imageSize }, (_, index) => {
    const [x, y] = [index % imageSize, Math.floor(index / imageSize)];
    const name = names[2 * Math.floor(y / squareSize) + Math.floor(x / squareSize)] ?? '';
    return colours[name] ?? [128, 128, 128];
  });
  return encodePng({ width: imageSize, height: imageSize, pixels: Buffer.from(pixels.flat()) });
}
