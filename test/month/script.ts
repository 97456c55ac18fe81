/*
 * What happens in the month, from a seed: who comes when and wants what. What follows from it, such as a payment or a second visit, is
 * decided by the numbers that each event brings along.
 */

/** µs. */
export const second = 1_000_000n;
export const minute = 60n * second;
export const hour = 60n * minute;
export const day = 24n * hour;

export interface MonthSize {
  readonly accounts: number;
  readonly days: number;
  readonly seed: number;
}

/** How a buyer pays. */
export type Payment = 'soon' | 'never' | 'late' | 'wrong' | 'twice' | 'without a notice';

export interface Visit {
  readonly kind: 'visit';
  readonly account: number;
  readonly days: number;
  readonly isGift: boolean;
  readonly payment: Payment;
  /** µs from the order to the payment. */
  readonly hesitation: bigint;
  /** Joins the waiting list when the plan is sold out; comes back so long after a reservation, or never. */
  readonly waits: boolean;
  readonly returnsAfter: bigint | undefined;
  /** The operator pays it back so long after the payment. */
  readonly refund:
    | { readonly after: bigint; readonly days: 'unused' | 'whole' | 'none'; readonly isPart: boolean }
    | undefined;
  /** µs from the request of a refund until the bank confirms it; undefined where it does so at once. */
  readonly confirmedAfter: bigint | undefined;
  /** µs for which the gateway is late with each read of a pending refund, unless another sweep is earlier. */
  readonly readLateBy: bigint;
  /** Who redeems a gift and when; nobody, where it is left out. */
  readonly redeemer: { readonly account: number; readonly after: bigint } | undefined;
}

export type Scripted =
  | Visit
  | { readonly kind: 'vouchers'; readonly count: number; readonly days: number }
  | { readonly kind: 'redeem'; readonly account: number; readonly voucher: number }
  | { readonly kind: 'revoke vouchers' }
  | { readonly kind: 'grant'; readonly account: number; readonly days: number }
  | { readonly kind: 'usage' }
  | { readonly kind: 'request'; readonly isFailed: boolean; readonly turn: number }
  | { readonly kind: 'watch' }
  | { readonly kind: 'credit' }
  | { readonly kind: 'peak' }
  | { readonly kind: 'probe'; readonly isWeak: boolean }
  | { readonly kind: 'bad change'; readonly which: 'price' | 'places' }
  // One more, which serves a share of the accounts and is to take itself back.
  | { readonly kind: 'canary' }
  | { readonly kind: 'digest' }
  // A day of the vendors that run dry, close an account and retire a model; days from 0.
  | { readonly kind: 'vendors'; readonly today: number }
  | { readonly kind: 'rollback' }
  | { readonly kind: 'count places' };

export type At<What> = What & { readonly at: bigint };

/**
 * Ms that failed and answered requests of the script take, and the first text of an answer: not so much longer than at a peak that the
 * model would count as slow.
 */
export const durations = { failed: 900, answered: 1_400, firstContent: 600 } as const;

/** Requests of a canary's time, µs between them, and the share of the accounts that it serves. */
export const canary = { rounds: 60, pause: 5n * second, each: 10, share: 0.4 } as const;

/** Of what an outage is made, µs from its beginning. */
const outage = { before: 11n * minute, after: 22n * minute, request: 20n * second, watch: 15n * second };

const plans = [1, 3, 7, 7, 7, 30] as const;
const payments: readonly Payment[] = [
  ...Array.from({ length: 76 }, () => 'soon' as const),
  ...Array.from({ length: 8 }, () => 'never' as const),
  ...Array.from({ length: 5 }, () => 'late' as const),
  ...Array.from({ length: 3 }, () => 'wrong' as const),
  ...Array.from({ length: 3 }, () => 'twice' as const),
  ...Array.from({ length: 5 }, () => 'without a notice' as const),
];

/** Deterministic numbers in [0, 1): mulberry32. */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The events of a month, in their order; `at` is µs from its beginning, at midnight in the zone of the service. */
export function writeScript({ accounts, days, seed }: MonthSize): At<Scripted>[] {
  const random = numbersFrom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const within = (from: bigint, until: bigint) => from + BigInt(Math.floor(random() * Number(until - from)));
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const end = BigInt(days) * day;
  const events: At<Scripted>[] = [];
  const add = (at: bigint, event: Scripted) => void (at < end && events.push({ at, ...event }));

  for (let account = 0; account < accounts; account++)
    for (let visit = 0; visit <= days / 8; visit++) {
      const payment = pick(payments);
      const isGift = random() < 0.12;
      add(within(0n, end), {
        kind: 'visit',
        account,
        days: pick(plans),
        isGift,
        payment,
        hesitation: payment === 'late' ? within(40n * minute, 20n * hour) : within(30n * second, 25n * minute),
        waits: random() < 0.6,
        returnsAfter: random() < 0.75 ? within(minute, 20n * hour) : undefined,
        refund:
          random() < 0.2
            ? {
                after: within(hour, 6n * day),
                days: pick(['unused', 'unused', 'whole', 'none']),
                isPart: random() < 0.3,
              }
            : undefined,
        confirmedAfter: random() < 0.7 ? within(hour, 20n * hour) : undefined,
        readLateBy: within(second, 14n * hour),
        redeemer: isGift && random() < 0.8 ? { account: below(accounts), after: within(minute, 4n * day) } : undefined,
      });
    }

  const vouchers = Math.max(10, Math.floor(accounts / 8));
  add(2n * hour, { kind: 'vouchers', count: vouchers, days: 3 });
  for (let voucher = 0; voucher < vouchers; voucher++) {
    add(within(3n * hour, end), { kind: 'redeem', account: below(accounts), voucher });
    // Some are tried again, by the same or by another account.
    if (random() < 0.3) add(within(3n * hour, end), { kind: 'redeem', account: below(accounts), voucher });
  }
  add((end * 3n) / 4n + 7n * second, { kind: 'revoke vouchers' });
  for (let grant = 0; grant < accounts / 50; grant++)
    add(within(0n, end), { kind: 'grant', account: below(accounts), days: 1 + below(5) });

  for (let today = 0n; today < BigInt(days); today++) {
    const midnight = today * day;
    for (const clock of [6n, 12n, 18n, 23n]) add(midnight + clock * hour + 59n * second, { kind: 'usage' });
    add(midnight + day - second, { kind: 'count places' });
    add(midnight + 6n * hour + 30n * minute, { kind: 'vendors', today: Number(today) });
    add(midnight + 7n * hour + minute, { kind: 'digest' });
    add(midnight + 3n * hour, { kind: 'probe', isWeak: today >= (BigInt(days) * 3n) / 5n });
    if (today % 7n === 1n) add(midnight + 20n * hour + 30n * minute, { kind: 'peak' });
    if (today % 7n !== 2n) continue;
    const began = midnight + 14n * hour + 5n * minute + BigInt(below(600)) * second;
    const length = BigInt(6 + below(14)) * minute;
    writeOutage(began, length, add);
  }
  for (const [index, which] of (['price', 'places'] as const).entries()) {
    const at = (end * BigInt(2 + 3 * index)) / 8n + 10n * hour + 11n * second;
    add(at, { kind: 'bad change', which });
    add(at + 3n * hour, { kind: 'rollback' });
  }
  // At an hour without requests of others, so that all that it is judged by is known.
  add(BigInt(Math.floor(days / 2)) * day + 9n * hour + 30n * minute, { kind: 'canary' });
  return events.toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

function writeOutage(began: bigint, length: bigint, add: (at: bigint, event: Scripted) => void): void {
  const until = began + length;
  let turn = 0;
  for (let at = began - outage.before; at < until + outage.after; at += outage.request)
    add(at, { kind: 'request', isFailed: at >= began && at < until, turn: turn++ });
  for (let at = began - outage.before + 7n * second; at < until + outage.after; at += outage.watch)
    add(at, { kind: 'watch' });
  add(until + outage.after + 3n * second, { kind: 'credit' });
}
