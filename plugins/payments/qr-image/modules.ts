import { createRequire } from 'node:module';
import type * as QrCode from 'qrcode';

const require = createRequire(import.meta.url);

/** Modules that must stay empty around a code. */
export const quietZone = 4;

/** Loads the library on first use, because commands and most pages draw no code. */
export function computeModules(payload: string): QrCode.BitMatrix {
  const { create } = require('qrcode') as typeof QrCode;
  return create(payload, { errorCorrectionLevel: 'M' }).modules;
}
