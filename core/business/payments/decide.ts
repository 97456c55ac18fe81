import type { FlagKind, OrderState, PaymentOutcome } from './order-types.ts';
import type { Money, PaymentState } from './payment-provider.ts';

interface Situation {
  readonly orderState: OrderState;
  readonly isLastAttempt: boolean; // false if the evidence is about an earlier attempt
  readonly expected: Money;
  readonly reportedState: PaymentState;
  readonly paid: Money | undefined;
  readonly recordedOutcome: PaymentOutcome | undefined; // recorded outcome of the payment that the evidence is about
}

/** What a piece of evidence changes about an order; empty if nothing. */
export interface Decision {
  readonly state?: OrderState;
  readonly isLate?: boolean;
  readonly payment?: PaymentOutcome;
  readonly flag?: FlagKind;
}

/** Evidence never lowers an order's rank, regardless of the order in which it arrives. */
const ranks: Record<OrderState, number> = {
  created: 0,
  pending: 1,
  expired: 2,
  failed: 2,
  cancelled: 2,
  paid: 3,
  refunded: 4,
};

const closedUnpaidStates = new Set<OrderState>(['expired', 'failed', 'cancelled']);

const noEffects: Decision = {};

/** Decides what a piece of evidence changes about an order. Pure. */
export function decideEffects(situation: Situation): Decision {
  switch (situation.reportedState) {
    case 'paid':
      return decidePaid(situation);
    case 'refunded':
      return decideRefunded(situation);
    case 'failed':
      // The provider now denies a payment that it had confirmed.
      if (situation.orderState === 'paid' && situation.recordedOutcome === 'activated') return { flag: 'reversed' };
      return decideTransition('failed', situation);
    case 'expired':
      return decideTransition('expired', situation);
    case 'pending':
      return decideTransition('pending', situation);
    case 'disputed':
      return { flag: 'disputed' };
    case 'unknown':
      return noEffects;
  }
}

function decidePaid({ orderState, expected, paid, recordedOutcome }: Situation): Decision {
  if (recordedOutcome !== undefined) return noEffects;
  // Money arrived, but the provider does not say how much. Flagged like a dispute, so that an operator checks it.
  if (paid === undefined) return { flag: 'disputed' };
  if (paid.currency !== expected.currency) return { payment: 'wrong_currency', flag: 'wrong_currency' };
  if (paid.amount !== expected.amount) return { payment: 'wrong_amount', flag: 'wrong_amount' };
  if (ranks[orderState] >= ranks.paid) return { payment: 'second', flag: 'second_payment' };
  return { state: 'paid', payment: 'activated', isLate: closedUnpaidStates.has(orderState) };
}

function decideRefunded({ orderState, paid, recordedOutcome }: Situation): Decision {
  if (recordedOutcome !== undefined) return noEffects; // `refund-effects.ts` handles refunds of recorded payments
  // Recorded for bookkeeping; a payment that was refunded before we recorded it does not extend the plan.
  const payment = paid === undefined ? {} : { payment: 'returned' as const };
  return ranks[orderState] >= ranks.paid ? payment : { ...payment, state: 'refunded' };
}

function decideTransition(state: 'pending' | 'expired' | 'failed', { orderState, isLastAttempt }: Situation): Decision {
  return isLastAttempt && ranks[state] > ranks[orderState] ? { state } : noEffects;
}
