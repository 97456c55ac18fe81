import type { FlagKind, OrderState, PaymentOutcome } from './order-types.ts';
import type { Money, PaymentState } from './payment-provider.ts';

interface Situation {
  readonly order: OrderState;
  /** False if a later attempt has followed the charge of the evidence. */
  readonly isLastAttempt: boolean;
  readonly expected: Money;
  readonly evidence: PaymentState;
  readonly paid: Money | undefined;
  readonly recorded: PaymentOutcome | undefined;
}

/** Effects of evidence on an order; empty for none. */
export interface Decision {
  readonly state?: OrderState;
  readonly isLate?: boolean;
  /** A payment to record. */
  readonly payment?: PaymentOutcome;
  readonly flag?: FlagKind;
}

/** Evidence never lowers the rank of an order, in whatever sequence it arrives. */
const ranks: Record<OrderState, number> = {
  created: 0,
  pending: 1,
  expired: 2,
  failed: 2,
  cancelled: 2,
  paid: 3,
  refunded: 4,
};

const nothing: Decision = {};

/** Decides the effects of evidence on an order. Pure. */
export function decide(situation: Situation): Decision {
  switch (situation.evidence) {
    case 'paid':
      return decidePaid(situation);
    case 'refunded':
      return decideRefunded(situation);
    case 'failed':
      // Denied after it was settled.
      if (situation.order === 'paid' && situation.recorded === 'activated') return { flag: 'reversed' };
      return moveTo('failed', situation);
    case 'expired':
      return moveTo('expired', situation);
    case 'pending':
      return moveTo('pending', situation);
    case 'disputed':
      return { flag: 'disputed' };
    case 'unknown':
      return nothing;
  }
}

function decidePaid({ order, expected, paid, recorded }: Situation): Decision {
  if (recorded !== undefined) return nothing;
  // Money arrived, but the provider does not say how much.
  if (paid === undefined) return { flag: 'disputed' };
  if (paid.currency !== expected.currency) return { payment: 'wrong_currency', flag: 'wrong_currency' };
  if (paid.amount !== expected.amount) return { payment: 'wrong_amount', flag: 'wrong_amount' };
  if (ranks[order] >= ranks.paid) return { payment: 'second', flag: 'second_payment' };
  return { state: 'paid', payment: 'activated', isLate: ranks[order] === ranks.expired };
}

/**
 * A payment refunded before we recorded it grants no days, but is recorded for the books. `refund-effects.ts` handles the refund of a
 * recorded payment.
 */
function decideRefunded({ order, paid, recorded }: Situation): Decision {
  if (recorded !== undefined) return nothing;
  const payment = paid === undefined ? {} : { payment: 'returned' as const };
  return ranks[order] >= ranks.paid ? payment : { ...payment, state: 'refunded' };
}

/** The end of an earlier charge does not end the order. */
function moveTo(state: 'pending' | 'expired' | 'failed', { order, isLastAttempt }: Situation): Decision {
  return isLastAttempt && ranks[state] > ranks[order] ? { state } : nothing;
}
