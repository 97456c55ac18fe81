import { createRequire } from 'node:module';
import type * as QrCode from 'qrcode';

const require = createRequire(import.meta.url);

/** Modules of a QR code. The library is loaded on first use: commands and most pages draw no code. */
export function modulesOf(payload: string): QrCode.BitMatrix {
  const { create } = require('qrcode') as typeof QrCode;
  return create(payload, { errorCorrectionLevel: 'M' }).modules;
}
