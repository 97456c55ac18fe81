import type { SlotLimits, SlotReply } from '#core/platform/shared/slots.ts';
import { FairQueue } from '../../../../plugins/upstream/capacity/fair-queue.ts';

export const limits: SlotLimits = {
  concurrent: 20,
  requests: Infinity,
  periodMs: 60_000,
  waitingByAccount: 1_000,
  waiting: 10_000,
};

/** A request of a simulated account. Times are ms of the simulated clock. */
export interface Served {
  readonly account: string;
  readonly id: string;
  readonly askedAt: number;
  startedAt: number;
  endedAt: number;
}

const never = { at: Infinity, order: 0, run: () => undefined };

/** A vendor behind one queue, on a simulated clock: what accounts ask for, and when it is served. */
export class Simulation {
  readonly queue = new FairQueue();
  readonly served: Served[] = [];
  readonly refused: string[] = [];
  now = 0;
  readonly #limits: SlotLimits;
  readonly #takes: (account: string) => number;
  readonly #known = new Map<string, Served>();
  readonly #events: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];
  #order = 0;
  #wakeAt = Infinity;

  /** @param takes ms that the vendor takes for a request of an account */
  constructor(given: Partial<SlotLimits> = {}, takes: (account: string) => number = () => 500) {
    this.#limits = { ...limits, ...given };
    this.#takes = takes;
  }

  at(time: number, run: () => void): void {
    this.#events.push({ at: time, order: this.#order++, run });
  }

  /** Sends a request now. @param then called when it has been served */
  ask(account: string, weight = 1, then: () => void = () => undefined): string {
    const id = `${account}-${this.#order++}`;
    this.#known.set(id, { account, id, askedAt: this.now, startedAt: Number.NaN, endedAt: Number.NaN });
    this.#ends.set(id, then);
    const reply = this.queue.enter({ id, account, weight, mayWait: true }, this.#limits, this.now);
    this.#follow(reply);
    if (reply.state === 'running') this.#start(id);
    if (reply.state === 'refused') this.refused.push(id);
    return id;
  }

  leave(id: string): void {
    this.#follow(this.queue.end(id, { isServed: false, refusedShare: 0 }, this.#limits, this.now));
  }

  /** Lets the clock run. */
  until(time: number): void {
    for (;;) {
      // Of those at the same time, the one that was planned first.
      const next = this.#events.reduce((best, one) => (one.at < best.at ? one : best), this.#events[0] ?? never);
      if (next.at > time) break;
      this.#events.splice(this.#events.indexOf(next), 1);
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = time;
  }

  readonly #ends = new Map<string, () => void>();

  #follow({ grantedIds: granted, nextInMs: nextIn }: SlotReply): void {
    for (const id of granted) this.#start(id);
    if (nextIn === undefined || nextIn === 0 || this.now + nextIn >= this.#wakeAt) return;
    this.#wakeAt = this.now + nextIn;
    this.at(this.#wakeAt, () => {
      this.#wakeAt = Infinity;
      this.#follow(this.queue.beat(this.#limits, this.now));
    });
  }

  #start(id: string): void {
    const request = this.#known.get(id) as Served;
    request.startedAt = this.now;
    this.at(this.now + this.#takes(request.account), () => {
      request.endedAt = this.now;
      this.served.push(request);
      this.#follow(this.queue.end(id, { isServed: true, refusedShare: 0 }, this.#limits, this.now));
      this.#ends.get(id)?.();
    });
  }
}

/** Jain's index of fairness: 1 when all are equal, 1/n when one has everything. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((all, value) => all + value, 0);
  return sum ** 2 / (values.length * values.reduce((all, value) => all + value ** 2, 0));
}

export function p95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Infinity;
}
