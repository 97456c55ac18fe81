import { FairQueue } from '../../plugins/upstream/capacity/fair-queue.ts';

/** A minute in which one account sends far more than its share to a vendor that takes 20 at once and answers in half a second. */
export const peak = { slots: 20, service: 500, heavy: 500, others: 19, each: 60 } as const;

export interface Served {
  /** 0 is the heavy one. */
  readonly account: number;
  readonly arrived: number; // ms
  readonly wait: number; // ms
}

interface Arrival {
  readonly id: string;
  readonly account: number;
  readonly at: number;
}

function arrivalsOf(): Arrival[] {
  const arrivals: Arrival[] = [];
  const add = (account: number, at: number) => void arrivals.push({ id: `${arrivals.length}`, account, at });
  for (let one = 0; one < peak.heavy; one++) add(0, 0);
  for (let one = 0; one < peak.each; one++)
    for (let account = 1; account <= peak.others; account++) add(account, one * 1_000 + account * 47);
  return arrivals.toSorted((one, other) => one.at - other.at);
}

/** What the product's queue makes of the minute. @throws Error when it gives a slot twice or never, or more than there are */
export function playPeak(): Served[] {
  const queue = new FairQueue();
  const limits = {
    concurrent: peak.slots,
    requests: Infinity,
    periodMs: 60_000,
    waitingByAccount: peak.heavy,
    waiting: 10_000,
  };
  const arrivals = arrivalsOf();
  const byId = new Map(arrivals.map((one) => [one.id, one]));
  const served = new Map<string, Served>();
  const running: { readonly id: string; readonly until: number }[] = [];
  const start = (id: string, now: number) => {
    const { account, at } = byId.get(id) as Arrival;
    if (served.has(id)) throw new Error(`request ${id} got a slot twice`);
    served.set(id, { account, arrived: at, wait: now - at });
    running.push({ id, until: now + peak.service });
    if (running.length > peak.slots) throw new Error(`${running.length} requests ran at once`);
  };
  while (arrivals.length > 0 || running.length > 0) {
    const [next, ended] = [arrivals[0], running[0]];
    if (ended !== undefined && (next === undefined || ended.until <= next.at)) {
      running.shift();
      const { grantedIds: granted } = queue.end(ended.id, { isServed: true, refusedShare: 0 }, limits, ended.until);
      for (const id of granted) start(id, ended.until);
      continue;
    }
    const { id, account, at } = arrivals.shift() as Arrival;
    const ask = { id, account: `${account}`, weight: 1, mayWait: true };
    const { state, grantedIds: granted } = queue.enter(ask, limits, at);
    for (const one of granted) start(one, at);
    if (state === 'running' && !served.has(id)) start(id, at);
    if (state === 'refused') throw new Error(`request ${id} was refused`);
  }
  if (served.size < byId.size) throw new Error(`${byId.size - served.size} requests never got a slot`);
  return [...served.values()];
}

/**
 * The sum of all waits, ms, of any order of service that leaves no slot idle: requests take equally long, so how many are in the
 * system at any time does not depend on who is next.
 */
export function sumOfWaits(): number {
  const free = Array.from({ length: peak.slots }, () => 0);
  let sum = 0;
  for (const { at } of arrivalsOf()) {
    free.sort((one, other) => one - other);
    const begins = Math.max(at, free[0] as number);
    free[0] = begins + peak.service;
    sum += begins - at;
  }
  return sum;
}
