import type { Order } from './order-types.ts';
import type { Charge } from './payment-provider.ts';
import { type Qris, QrisError, readQris } from './qris.ts';

interface QrProblem {
  readonly text: string;
  readonly isShown: boolean; // true if the code charges the amount on the page, so buyers may use it
}

/**
 * Checks whether a wallet that scans this code would charge the amount on the page.
 *
 * @returns undefined if the code is correct, or if the charge has a payment page instead of a code
 */
export function findQrProblem(
  { price, currency }: Pick<Order, 'price' | 'currency'>,
  { qr, total }: Charge,
): QrProblem | undefined {
  if (qr === undefined) return undefined;
  if (currency !== 'IDR') return asHidden(`its QR code is in rupiah, and the order in ${currency}`);
  try {
    return findPayloadProblem(readQris(qr), total?.amount ?? price);
  } catch (error) {
    if (!(error instanceof QrisError)) throw error;
    return asHidden(`its QR code is not a valid QRIS payload: ${error.message}`);
  }
}

function findPayloadProblem({ amount, hasFee, hasStrayFee, isDynamic }: Qris, expected: number): QrProblem | undefined {
  if (hasFee) return asHidden('its QR code adds a tip or a fee to the amount');
  if (amount !== expected) return asHidden(`its QR code is for Rp ${amount ?? 'any amount'}, not for Rp ${expected}`);
  if (!isDynamic) return asShown('its QR code is static (field 01 is not 12), so it may be paid more than once');
  return hasStrayFee ? asShown('its QR code has a fee (field 56 or 57) without its indicator (field 55)') : undefined;
}

const asHidden = (text: string): QrProblem => ({ text, isShown: false });
const asShown = (text: string): QrProblem => ({ text, isShown: true });
