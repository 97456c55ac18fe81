import type { StatedMovement } from '#core/business/payments/payment-provider.ts';

export interface BookEntry {
  readonly kind: 'payment' | 'refund';
  readonly id: string; // primary key
  readonly provider_id: string | null;
  readonly provider_reference: string | null;
  readonly reference: string;
  readonly amount: number;
  readonly currency: string;
  readonly at: number; // epoch ms
  readonly order_id: string;
  readonly account_id: string;
}

export type MatchedPair = readonly [BookEntry, StatedMovement];

interface Matches {
  readonly pairs: readonly MatchedPair[];
  readonly onlyOurs: readonly BookEntry[];
  readonly onlyTheirs: readonly StatedMovement[];
}

/** The rules apply in this order, and each movement is matched at most once. */
const rules: readonly ((entry: BookEntry, stated: StatedMovement) => boolean)[] = [
  (entry, { id, key }) => entry.provider_id === id || (entry.kind === 'refund' && entry.id === key),
  (entry, stated) => isSameCharge(entry, stated) && entry.amount === stated.amount,
  isSameCharge,
];

function isSameCharge(entry: BookEntry, { id, reference, providerReference, key }: StatedMovement): boolean {
  if (entry.kind === 'refund' && key !== undefined) return false;
  const { provider_reference: ours } = entry;
  return entry.reference === reference || (ours !== null && (ours === id || ours === providerReference));
}

export function matchBooks(entries: readonly BookEntry[], stated: readonly StatedMovement[]): Matches {
  const onlyOurs = new Set(entries);
  const index = indexByIdsAndReferences(entries);
  const pairs: MatchedPair[] = [];
  let onlyTheirs = stated;
  for (const rule of rules) {
    onlyTheirs = onlyTheirs.filter((movement) => {
      const { kind, id, key, reference, providerReference } = movement;
      const candidates = [id, key, reference, providerReference].flatMap((name) => index.get(`${kind} ${name}`) ?? []);
      const match = candidates.find((entry) => onlyOurs.has(entry) && rule(entry, movement));
      if (match === undefined) return true;
      onlyOurs.delete(match);
      pairs.push([match, movement]);
      return false;
    });
  }
  return { pairs, onlyOurs: [...onlyOurs], onlyTheirs };
}

function indexByIdsAndReferences(entries: readonly BookEntry[]): Map<string, BookEntry[]> {
  const index = new Map<string, BookEntry[]>();
  for (const entry of entries) {
    const names = [entry.id, entry.provider_id, entry.reference, entry.provider_reference];
    for (const name of new Set(names)) {
      if (name === null) continue;
      const key = `${entry.kind} ${name}`;
      index.set(key, [...(index.get(key) ?? []), entry]);
    }
  }
  return index;
}

export interface BookTotals {
  readonly payments: { readonly count: number; readonly amount: number };
  readonly refunds: { readonly count: number; readonly amount: number };
  readonly fees: number;
}

export function computeTotals(
  movements: readonly Pick<StatedMovement, 'kind' | 'amount' | 'currency'>[],
  currency: string,
  fees: number,
): BookTotals {
  const sum = (kind: StatedMovement['kind']) => {
    const selected = movements.filter((movement) => movement.kind === kind && movement.currency === currency);
    return { count: selected.length, amount: selected.reduce((total, { amount }) => total + amount, 0) };
  };
  return { payments: sum('payment'), refunds: sum('refund'), fees };
}

export function sumFees(movements: readonly StatedMovement[]): number {
  return movements.reduce((sum, { fee = 0 }) => sum + fee, 0);
}
