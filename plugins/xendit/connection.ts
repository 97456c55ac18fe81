import {
  type ChargeReference,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
} from '#core/business/payments/payment-provider.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { apiVersion, callXendit } from './api.ts';
import { chargeXendit } from './charge.ts';
import { readXenditNotification } from './notification.ts';
import { fetchXenditRefund, refundXendit } from './refund.ts';
import {
  getCallsPerSecond,
  isTestMode,
  getApiOrigin,
  requireSecret,
  type XenditSettings,
  xenditSection,
} from './section.ts';
import { fetchXenditStatus } from './status.ts';
import { listXenditMovements } from './transactions.ts';

/** @throws Error if the secret key or the webhook token is missing */
export function connectXendit(host: Host): PaymentConnection {
  const settings = host.section(xenditSection);
  requireSecret(settings, 'secret_key');
  requireSecret(settings, 'webhook_token');
  return {
    callsPerSecond: getCallsPerSecond(settings),
    charge: (request, signal) => chargeXendit(settings, request, signal),
    status: (charge, signal) => fetchXenditStatus(settings, charge, signal),
    isTest: isTestMode(settings),
    ...(isTestMode(settings) && { simulation: createSimulation(settings) }),
    cancel: (charge, signal) => cancelCharge(settings, charge, signal),
    refundsCharges: true,
    refund: (request, signal) => refundXendit(settings, request, signal),
    refundStatus: (request, signal) => fetchXenditRefund(settings, request, signal),
    listMovements: (span, cursor, signal) => listXenditMovements(settings, span, cursor, signal),
    readNotification: (notification) => readXenditNotification(notification, settings),
  };
}

/** Test mode has no wallets. One call makes Xendit mark a payment request as paid. */
function createSimulation(settings: XenditSettings): NonNullable<PaymentConnection['simulation']> {
  return ({ providerReference = 'ID', amount }) =>
    [
      `curl -u "$XENDIT_SECRET_KEY:" -H 'api-version: ${apiVersion}' -H 'content-type: application/json'`,
      `-d '${JSON.stringify({ amount })}' ${getApiOrigin(settings)}/v3/payment_requests/${providerReference}/simulate`,
    ].join(' ');
}

/** The status afterwards shows the result, because the buyer may have paid at the same moment. */
async function cancelCharge(
  settings: XenditSettings,
  charge: ChargeReference,
  signal: AbortSignal,
): Promise<PaymentEvidence> {
  if (charge.providerReference !== undefined) {
    const path = `/v3/payment_requests/${encodeURIComponent(charge.providerReference)}/cancel`;
    await callXendit(settings, { method: 'POST', path, signal }).catch((error: unknown) => {
      if (!(error instanceof PaymentError)) throw error;
    });
  }
  return fetchXenditStatus(settings, charge, signal);
}
