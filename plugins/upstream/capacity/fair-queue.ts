import {
  fairness,
  type SlotAsk,
  type SlotLimits,
  type SlotReply,
  type SlotResult,
} from '#core/platform/shared/slots.ts';

/** An account that uses, waits for or recently used slots. Virtual times are ms of a slot. */
interface Account {
  weight: number;
  /** Virtual time up to which its grants are charged. */
  finish: number;
  /** Decaying sum of the ms for which the account held slots, as of `usedAt`. */
  use: number;
  usedAt: number;
  mean: number | undefined; // ms; undefined before the first request
  running: number;
  readonly waiting: string[]; // ids in order of arrival
}

interface Running {
  readonly account: string;
  readonly startedAt: number;
  /** Ms charged in advance; `price` is virtual ms per ms. */
  readonly charged: number;
  readonly price: number;
}

/**
 * Slots of one pool and the requests that wait for them: start-time fair queueing (Goyal, Vin, Cheng 1996) by account, over several slots.
 * Each account is served in order of arrival; the account with the earliest start tag is next. A slot advances the tag by the usual
 * duration of the account's requests, corrected at the end by the actual duration, divided by the account's weight and multiplied by its
 * burden: up to 4 for an account that recently used more than the others.
 *
 * No clock, no timers: `now` is monotonic ms. `core/platform/shared/slots.lua` does the same in Redis.
 */
export class FairQueue {
  readonly #accounts = new Map<string, Account>();
  /** Start tags of waiting accounts; ties are in order of arrival. */
  readonly #ready = new Map<string, number>();
  readonly #accountOf = new Map<string, string>();
  readonly #running = new Map<string, Running>();
  #virtual = 0;
  #lastFinish = 0;
  #mean: number | undefined;
  /** Decaying sum of the use of all accounts, each divided by its weight, as of `#usedAt`. */
  #use = 0;
  #usedAt = 0;
  #arrival = 0; // theoretical arrival time of the rate, see gcra.ts
  #learned: number | undefined;
  #cutAt = -Infinity;
  #left = Infinity; // requests the upstream allows until #leftUntil
  #leftUntil = 0;
  #sweptAt = 0;

  get running(): number {
    return this.#running.size;
  }

  get waiting(): number {
    return this.#accountOf.size;
  }

  /** Slots believed to exist. */
  limit({ concurrent }: SlotLimits, now: number): number {
    if (this.#learned === undefined || now - this.#cutAt >= fairness.cutMemory) return concurrent;
    return Math.min(concurrent, Math.max(1, Math.floor(this.#learned)));
  }

  enter({ id, account: name, weight, mayWait }: SlotAsk, limits: SlotLimits, now: number): SlotReply {
    const account = this.#account(name, weight, now);
    if (this.#running.size === 0 && this.waiting === 0) this.#virtual = Math.max(this.#virtual, this.#lastFinish);
    const granted = this.#grant(limits, now);
    if (this.waiting === 0 && this.#roomIn(limits, now) === 0) {
      this.#start(id, name, Math.max(this.#virtual, account.finish), now, limits);
      return this.#reply('running', account, limits, now, granted);
    }
    const isFull = account.waiting.length >= limits.waitingByAccount || this.waiting >= limits.waiting;
    if (!mayWait || isFull) return this.#reply('refused', account, limits, now, granted);
    if (account.waiting.length === 0) this.#ready.set(name, Math.max(this.#virtual, account.finish));
    account.waiting.push(id);
    this.#accountOf.set(id, name);
    return this.#reply('waiting', account, limits, now, granted);
  }

  /** Counts a slot that has been in use for `age` ms. */
  adopt({ id, account: name, weight }: SlotAsk, limits: SlotLimits, now: number, age: number): void {
    const account = this.#account(name, weight, now);
    this.#start(id, name, Math.max(this.#virtual, account.finish), now, limits, now - age);
  }

  end(id: string, result: SlotResult, limits: SlotLimits, now: number): SlotReply {
    const name = this.#running.get(id)?.account ?? this.#accountOf.get(id);
    this.#free(id, result, limits, now);
    this.#leave(id);
    const granted = this.#grant(limits, now);
    return this.#reply(undefined, name === undefined ? undefined : this.#accounts.get(name), limits, now, granted);
  }

  /** Grants slots that became available over time. */
  beat(limits: SlotLimits, now: number): SlotReply {
    this.#sweep(now);
    const granted = this.#grant(limits, now);
    return this.#reply(undefined, undefined, limits, now, granted);
  }

  #account(name: string, weight: number, now: number): Account {
    const existing = this.#accounts.get(name);
    if (existing !== undefined) {
      existing.weight = weight;
      return existing;
    }
    const account = { weight, finish: 0, use: 0, usedAt: now, mean: undefined, running: 0, waiting: [] };
    this.#accounts.set(name, account);
    return account;
  }

  #start(id: string, name: string, tag: number, now: number, limits: SlotLimits, startedAt: number = now): void {
    const account = this.#accounts.get(name) as Account;
    const charged = account.mean ?? this.#mean ?? fairness.firstMean;
    const price = this.#burdenOf(account, now) / account.weight;
    this.#virtual = Math.max(this.#virtual, tag);
    account.finish = tag + charged * price;
    account.running++;
    this.#lastFinish = Math.max(this.#lastFinish, account.finish);
    this.#running.set(id, { account: name, startedAt, charged, price });
    if (limits.requests !== Infinity)
      this.#arrival = Math.max(now, Math.min(this.#arrival, now + limits.period)) + limits.period / limits.requests;
    this.#left--;
  }

  /** Cost factor of a slot for an account with above-average use. */
  #burdenOf({ use, usedAt, weight }: Account, now: number): number {
    const all = decayed(this.#use, this.#usedAt, now);
    if (all <= 0) return 1;
    const ratio = ((decayed(use, usedAt, now) / weight) * this.#accounts.size) / all;
    return Math.min(fairness.mostBurden, Math.max(1, ratio));
  }

  #free(id: string, { isServed, refused, left }: SlotResult, limits: SlotLimits, now: number): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    const inUse = this.#running.size;
    this.#running.delete(id);
    const account = this.#accounts.get(running.account) as Account;
    const duration = Math.max(0, now - running.startedAt);
    const correction = (duration - running.charged) * running.price;
    account.running--;
    account.finish += correction;
    const tag = this.#ready.get(running.account);
    if (tag !== undefined) this.#ready.set(running.account, Math.max(this.#virtual, tag + correction));
    account.use = decayed(account.use, account.usedAt, now) + duration;
    account.usedAt = now;
    this.#use = decayed(this.#use, this.#usedAt, now) + duration / account.weight;
    this.#usedAt = now;
    if (isServed) {
      account.mean = movingMean(account.mean, duration, fairness.accountGain);
      this.#mean = movingMean(this.#mean, duration, fairness.gain);
    }
    this.#learn(refused, isServed, inUse, running.startedAt, limits, now);
    if (left !== undefined) {
      this.#left = left.requests;
      this.#leftUntil = now + Math.min(left.leftFor, fairness.longestLeft);
    }
  }

  /** A rejection lowers the limit once for all requests sent before it; requests served at the limit raise it slowly. */
  #learn(refused: number, isServed: boolean, inUse: number, startedAt: number, limits: SlotLimits, now: number): void {
    const limit = this.limit(limits, now);
    if (refused > 0) {
      if (startedAt < this.#cutAt) return;
      this.#learned = Math.max(1, Math.min(limit, inUse) * (1 - fairness.cut * refused));
      this.#cutAt = now;
    } else if (isServed && this.#learned !== undefined && inUse >= limit)
      this.#learned = Math.min(limits.concurrent, this.#learned + fairness.raise / this.#learned);
  }

  #leave(id: string): void {
    const name = this.#accountOf.get(id);
    if (name === undefined) return;
    this.#accountOf.delete(id);
    const { waiting } = this.#accounts.get(name) as Account;
    waiting.splice(waiting.indexOf(id), 1);
    if (waiting.length === 0) this.#ready.delete(name);
  }

  #grant(limits: SlotLimits, now: number): string[] {
    const granted: string[] = [];
    while (this.#ready.size > 0 && this.#roomIn(limits, now) === 0) {
      const [name, tag] = this.#next();
      const account = this.#accounts.get(name) as Account;
      const id = account.waiting.shift() as string;
      this.#accountOf.delete(id);
      this.#ready.delete(name);
      this.#start(id, name, tag, now, limits);
      // Queued behind accounts with the same tag.
      if (account.waiting.length > 0) this.#ready.set(name, Math.max(this.#virtual, account.finish));
      granted.push(id);
    }
    return granted;
  }

  #next(): [name: string, tag: number] {
    let best: [string, number] = ['', Infinity];
    for (const entry of this.#ready) if (entry[1] < best[1]) best = entry;
    return best;
  }

  /** Ms until another request may start: 0 if now, Infinity if a slot must become free first. */
  #roomIn(limits: SlotLimits, now: number): number {
    if (this.#running.size >= this.limit(limits, now)) return Infinity;
    const { requests, period } = limits;
    const arrival = Math.min(this.#arrival, now + period);
    const byRate = requests === Infinity ? 0 : Math.max(arrival, now) + period / requests - period - now;
    const byHeaders = this.#left > 0 ? 0 : this.#leftUntil - now;
    return Math.max(0, byRate, byHeaders);
  }

  #reply(
    state: SlotReply['state'],
    account: Account | undefined,
    limits: SlotLimits,
    now: number,
    granted: readonly string[],
  ): SlotReply {
    const waitingOfAccount = account?.waiting.length ?? 0;
    const last = state === 'waiting' ? waitingOfAccount : waitingOfAccount + 1;
    const otherAccounts = this.#ready.size - (waitingOfAccount > 0 ? 1 : 0);
    const position = last + Math.min(this.waiting - waitingOfAccount, last * otherAccounts);
    const limit = this.limit(limits, now);
    const slotTime = (this.#mean ?? fairness.firstMean) / limit;
    const interval = Math.max(slotTime, limits.requests === Infinity ? 0 : limits.period / limits.requests);
    const room = this.#roomIn(limits, now);
    const blocked = room === Infinity ? 0 : room;
    return {
      state,
      position,
      expected: Math.max(position * interval, blocked),
      nextIn: this.waiting > 0 && room !== Infinity ? room : undefined,
      granted,
    };
  }

  #sweep(now: number): void {
    if (now - this.#sweptAt < fairness.sweepInterval) return;
    this.#sweptAt = now;
    for (const [name, { running, waiting, finish, use, usedAt }] of this.#accounts) {
      const isIdle = running === 0 && waiting.length === 0 && finish <= this.#virtual;
      if (isIdle && decayed(use, usedAt, now) < fairness.forgottenUse) this.#accounts.delete(name);
    }
  }
}

function decayed(use: number, at: number, now: number): number {
  return use * 2 ** (-(now - at) / fairness.halfLife);
}

function movingMean(mean: number | undefined, latest: number, gain: number): number {
  return mean === undefined ? latest : mean + gain * (latest - mean);
}
