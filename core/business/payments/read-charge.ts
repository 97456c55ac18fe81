import type { Host } from '#core/gateway/host/host.ts';
import { readStatus } from './ask-provider.ts';
import type { Urgency } from './call-budget.ts';
import { type ChargeReference, PaymentError, type PaymentEvidence } from './payment-provider.ts';
import { settle } from './settle.ts';

/** A recorded charge, and one of its payments. */
export interface RecordedCharge {
  readonly reference: string;
  readonly providerReference: string | null;
  readonly paymentId: string | null;
}

export function toChargeReference({
  reference,
  providerReference,
  paymentId,
}: RecordedCharge): Required<ChargeReference> {
  return { reference, providerReference: providerReference ?? undefined, paymentId: paymentId ?? undefined };
}

/** Reads a charge and settles anything new, in case a notification was lost. Returns undefined if the charge cannot be read. */
export async function readCharge(
  host: Host,
  provider: string,
  charge: RecordedCharge,
  urgency: Urgency = 'books',
): Promise<PaymentEvidence | undefined> {
  try {
    const evidence = await readStatus(host, provider, toChargeReference(charge), urgency);
    await settle(host, provider, evidence);
    return evidence;
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    host.log.warn(`payment ${charge.reference} could not be read: ${error.message}`);
    return undefined;
  }
}
