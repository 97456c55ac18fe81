import { createRequire } from 'node:module';
import type * as QrCode from 'qrcode';

const require = createRequire(import.meta.url);

/** The modules of a QR code. The library is loaded with the first one: commands and most pages draw none. */
export function modulesOf(payload: string): QrCode.BitMatrix {
  const { create } = require('qrcode') as typeof QrCode;
  return create(payload, { errorCorrectionLevel: 'M' }).modules;
}
