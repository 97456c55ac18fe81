import {
  type ChargeReference,
  PaymentError,
  type PaymentConnection,
  type PaymentEvidence,
} from '#core/business/payments/payment-provider.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { callMidtrans } from './api.ts';
import { chargeMidtrans } from './charge.ts';
import { readEvidence } from './evidence.ts';
import { readMidtransNotification } from './notification.ts';
import { fetchMidtransRefund, refundMidtrans } from './refund.ts';
import { isTestMode, type MidtransSettings, midtransSection, requireKey } from './section.ts';

/** @throws Error if there is no server key */
export function connectMidtrans(host: Host): PaymentConnection {
  const settings = host.section(midtransSection);
  requireKey(settings);
  return {
    isTest: isTestMode(settings),
    charge: (request, signal) => chargeMidtrans(settings, request, host.now(), signal),
    status: (charge, signal) => fetchStatus(settings, charge, signal),
    cancel: (charge, signal) => cancelCharge(settings, charge, signal),
    refund: (request, signal) => refundMidtrans(settings, request, signal),
    refundStatus: (request, signal) => fetchMidtransRefund(settings, request, signal),
    readNotification: (notification) => readMidtransNotification(notification, settings),
  };
}

async function fetchStatus(
  settings: MidtransSettings,
  charge: ChargeReference,
  signal: AbortSignal,
): Promise<PaymentEvidence> {
  const path = `/v2/${encodeURIComponent(charge.reference)}/status`;
  const body = await callMidtrans(settings, { method: 'GET', path, accepts: [404, 407], signal });
  return readEvidence(body, charge, settings);
}

/** Reads the status after canceling, because the buyer may have paid at the same moment. */
async function cancelCharge(
  settings: MidtransSettings,
  charge: ChargeReference,
  signal: AbortSignal,
): Promise<PaymentEvidence> {
  const path = `/v2/${encodeURIComponent(charge.reference)}/cancel`;
  await callMidtrans(settings, { method: 'POST', path, signal }).catch((error: unknown) => {
    if (!(error instanceof PaymentError)) throw error;
  });
  return fetchStatus(settings, charge, signal);
}
