import { smallestUnitsPerUnit } from '#core/business/accounts/money.ts';

/**
 * Money as a whole number of 10^-28 units of the plans' currency. This is exact for the cost of one token, given a price per million tokens
 * with six decimals, a rate with twelve, and a tax percentage with two. Sums are exact in any order.
 */
export type ExactMoney = bigint;

const decimals = 28;
const unit = 10n ** BigInt(decimals);

export function fromSmallestUnit(amount: number, currency: string): ExactMoney {
  return (BigInt(amount) * unit) / BigInt(smallestUnitsPerUnit(currency));
}

export function toSmallestUnit(money: ExactMoney, currency: string): number {
  const size = unit / BigInt(smallestUnitsPerUnit(currency));
  const half = money < 0n ? -size / 2n : size / 2n;
  return Number((money + half) / size);
}

export function formatDecimal(money: ExactMoney): string {
  // in whole units: `0.001234`
  const digits = (money < 0n ? -money : money).toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${money < 0n ? '-' : ''}${digits.slice(0, -decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** The parts add up to the amount, because the remainder of each division goes to the parts after it. Undefined if all weights are 0. */
export function allocate(amount: ExactMoney, weights: readonly number[]): ExactMoney[] | undefined {
  const total = BigInt(weights.reduce((sum, weight) => sum + weight, 0));
  if (total === 0n) return undefined;
  let reachedWeight = 0n;
  let allocated = 0n;
  return weights.map((weight) => {
    reachedWeight += BigInt(weight);
    const next = (amount * reachedWeight) / total;
    const part = next - allocated;
    allocated = next;
    return part;
  });
}

/** Epoch ms; `until` is exclusive. */
export interface Timespan {
  readonly from: number;
  readonly until: number;
}

/**
 * Returns a span's part of an amount that is spread evenly over a period. The parts of two adjacent spans add up to the part of both
 * together. If the period has zero length, the whole amount belongs to the span that contains it.
 */
export function prorate(amount: ExactMoney, period: Timespan, { from, until }: Timespan): ExactMoney {
  const length = period.until - period.from;
  if (length <= 0) return from <= period.from && period.from < until ? amount : 0n;
  const allocatedUntil = (time: number) => {
    const passed = Math.min(Math.max(time - period.from, 0), length);
    return (amount * BigInt(passed)) / BigInt(length);
  };
  return until <= from ? 0n : allocatedUntil(until) - allocatedUntil(from);
}
