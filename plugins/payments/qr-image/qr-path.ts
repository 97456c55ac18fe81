import { computeModules, quietZone } from './modules.ts';

interface QrPath {
  readonly side: number; // modules, including the quiet zone
  readonly path: string;
}

/** Draws one rectangle per run of dark modules in a row. */
export function drawQrPath(payload: string): QrPath {
  const modules = computeModules(payload);
  let path = '';
  for (let y = 0; y < modules.size; y++) {
    for (let x = 0; x < modules.size; x++) {
      if (modules.get(y, x) === 0) continue;
      const start = x;
      while (x + 1 < modules.size && modules.get(y, x + 1) !== 0) x++;
      path += `M${start + quietZone} ${y + quietZone}h${x - start + 1}v1h-${x - start + 1}z`;
    }
  }
  return { side: modules.size + 2 * quietZone, path };
}
