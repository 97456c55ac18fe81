import type { Host } from '#core/gateway/host/host.ts';
import { readStatus } from './ask-provider.ts';
import type { Urgency } from './call-budget.ts';
import { PaymentError, type PaymentEvidence } from './payment-provider.ts';
import { settle } from './settle.ts';

/** A recorded charge and one of its payments. */
export interface RecordedCharge {
  readonly reference: string;
  readonly providerReference: string | null;
  readonly paymentId: string | null;
}

/** Reads a charge and settles anything new, because a notification may have been lost. Returns undefined if the charge cannot be read. */
export async function readCharge(
  host: Host,
  provider: string,
  { reference, providerReference, paymentId }: RecordedCharge,
  urgency: Urgency = 'books',
): Promise<PaymentEvidence | undefined> {
  try {
    const charge = {
      reference,
      providerReference: providerReference ?? undefined,
      paymentId: paymentId ?? undefined,
    };
    const evidence = await readStatus(host, provider, charge, urgency);
    await settle(host, provider, evidence);
    return evidence;
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    host.log.warn(`payment ${reference} could not be read: ${error.message}`);
    return undefined;
  }
}
