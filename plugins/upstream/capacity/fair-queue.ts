import {
  fairness,
  type RequestedSlot,
  type SlotLimits,
  type SlotReply,
  type SlotResult,
} from '#core/platform/shared/slots.ts';

/** An account that holds slots, waits for them or used some recently. Virtual times are ms of a slot. */
interface Account {
  weight: number;
  virtualFinish: number; // expected end of the latest granted slot; the next start tag is not earlier
  use: number; // decaying sum of slot-ms, as of `usedAt`
  usedAt: number;
  meanDurationMs: number | undefined; // undefined before the first request
  running: number;
  readonly waiting: string[]; // ids in order of arrival
}

interface RunningRequest {
  readonly account: string;
  readonly startedAt: number;
  readonly charged: number; // ms, charged in advance
  readonly price: number; // virtual ms per ms
}

/**
 * Slots of one pool, and the requests that wait for them. The algorithm is start-time fair queueing (Goyal, Vin, Cheng 1996) by account,
 * over several slots. Requests of one account are served in order of arrival. The account with the earliest start tag is next.
 *
 * Each granted slot advances the account's tag by the usual duration of its requests. When the slot ends, the actual duration replaces the
 * usual one. Both are divided by the account's weight and multiplied by its burden: 1, or up to 4 for an account that recently used more
 * than the others.
 *
 * It has no clock and no timers; `now` is monotonic ms. `core/platform/shared/slots.lua` implements the same algorithm in Redis.
 */
export class FairQueue {
  readonly #accounts = new Map<string, Account>();
  /** Start tags by waiting account. Equal tags are served in order of arrival. */
  readonly #readyTags = new Map<string, number>();
  readonly #waitingAccounts = new Map<string, string>(); // account by the id of its waiting request
  readonly #runningRequests = new Map<string, RunningRequest>();
  #virtualTime = 0;
  #lastFinish = 0;
  #meanMs: number | undefined;
  #totalUse = 0; // decaying sum of use divided by weight, as of `#totalUseAt`
  #totalUseAt = 0;
  #nextArrival = 0; // theoretical arrival time of the request rate; see gcra.ts
  #learnedLimit: number | undefined;
  #limitCutAt = -Infinity;
  #remainingRequests = Infinity; // requests that the upstream allows until `#remainingUntil`
  #remainingUntil = 0;
  #sweptAt = 0;

  get running(): number {
    return this.#runningRequests.size;
  }

  get waiting(): number {
    return this.#waitingAccounts.size;
  }

  /** Returns how many slots the upstream is believed to have. */
  currentLimit({ concurrent }: SlotLimits, now: number): number {
    if (this.#learnedLimit === undefined || now - this.#limitCutAt >= fairness.cutMemoryMs) return concurrent;
    return Math.min(concurrent, Math.max(1, Math.floor(this.#learnedLimit)));
  }

  enter({ id, account: name, weight, mayWait }: RequestedSlot, limits: SlotLimits, now: number): SlotReply {
    const account = this.#getOrCreateAccount(name, weight, now);
    if (this.#runningRequests.size === 0 && this.waiting === 0)
      this.#virtualTime = Math.max(this.#virtualTime, this.#lastFinish);
    const granted = this.#grantSlots(limits, now);
    if (this.waiting === 0 && this.#msUntilRoom(limits, now) === 0) {
      this.#startRequest(id, name, Math.max(this.#virtualTime, account.virtualFinish), now, limits);
      return this.#createReply('running', account, limits, now, granted);
    }
    const isFull = account.waiting.length >= limits.waitingByAccount || this.waiting >= limits.waiting;
    if (!mayWait || isFull) return this.#createReply('refused', account, limits, now, granted);
    if (account.waiting.length === 0) this.#readyTags.set(name, Math.max(this.#virtualTime, account.virtualFinish));
    account.waiting.push(id);
    this.#waitingAccounts.set(id, name);
    return this.#createReply('waiting', account, limits, now, granted);
  }

  adopt({ id, account: name, weight }: RequestedSlot, limits: SlotLimits, now: number, ageMs: number): void {
    const account = this.#getOrCreateAccount(name, weight, now);
    this.#startRequest(id, name, Math.max(this.#virtualTime, account.virtualFinish), now, limits, now - ageMs);
  }

  end(id: string, result: SlotResult, limits: SlotLimits, now: number): SlotReply {
    const name = this.#runningRequests.get(id)?.account ?? this.#waitingAccounts.get(id);
    this.#releaseSlot(id, result, limits, now);
    this.#leaveQueue(id);
    const granted = this.#grantSlots(limits, now);
    const account = name === undefined ? undefined : this.#accounts.get(name);
    return this.#createReply(undefined, account, limits, now, granted);
  }

  /** Grants the slots that have become available with time. */
  beat(limits: SlotLimits, now: number): SlotReply {
    this.#forgetIdleAccounts(now);
    const granted = this.#grantSlots(limits, now);
    return this.#createReply(undefined, undefined, limits, now, granted);
  }

  #getOrCreateAccount(name: string, weight: number, now: number): Account {
    const existing = this.#accounts.get(name);
    if (existing !== undefined) {
      existing.weight = weight;
      return existing;
    }
    const account = {
      weight,
      virtualFinish: 0,
      use: 0,
      usedAt: now,
      meanDurationMs: undefined,
      running: 0,
      waiting: [],
    };
    this.#accounts.set(name, account);
    return account;
  }

  #startRequest(id: string, name: string, tag: number, now: number, limits: SlotLimits, startedAt: number = now): void {
    const account = this.#accounts.get(name) as Account;
    const charged = account.meanDurationMs ?? this.#meanMs ?? fairness.initialMeanMs;
    const price = this.#computeBurden(account, now) / account.weight;
    this.#virtualTime = Math.max(this.#virtualTime, tag);
    account.virtualFinish = tag + charged * price;
    account.running++;
    this.#lastFinish = Math.max(this.#lastFinish, account.virtualFinish);
    this.#runningRequests.set(id, { account: name, startedAt, charged, price });
    if (limits.requests !== Infinity)
      this.#nextArrival =
        Math.max(now, Math.min(this.#nextArrival, now + limits.periodMs)) + limits.periodMs / limits.requests;
    this.#remainingRequests--;
  }

  #computeBurden({ use, usedAt, weight }: Account, now: number): number {
    const totalUse = decay(this.#totalUse, this.#totalUseAt, now);
    if (totalUse <= 0) return 1;
    const ratio = ((decay(use, usedAt, now) / weight) * this.#accounts.size) / totalUse;
    return Math.min(fairness.maxBurden, Math.max(1, ratio));
  }

  #releaseSlot(id: string, result: SlotResult, limits: SlotLimits, now: number): void {
    const running = this.#runningRequests.get(id);
    if (running === undefined) return;
    const slotsInUse = this.#runningRequests.size;
    this.#runningRequests.delete(id);
    const account = this.#accounts.get(running.account) as Account;
    const duration = Math.max(0, now - running.startedAt);
    const correction = (duration - running.charged) * running.price;
    account.running--;
    account.virtualFinish += correction;
    const tag = this.#readyTags.get(running.account);
    if (tag !== undefined) this.#readyTags.set(running.account, Math.max(this.#virtualTime, tag + correction));
    account.use = decay(account.use, account.usedAt, now) + duration;
    account.usedAt = now;
    this.#totalUse = decay(this.#totalUse, this.#totalUseAt, now) + duration / account.weight;
    this.#totalUseAt = now;
    if (result.isServed) {
      account.meanDurationMs = updateMean(account.meanDurationMs, duration, fairness.accountGain);
      this.#meanMs = updateMean(this.#meanMs, duration, fairness.gain);
    }
    this.#adjustLimit(result, slotsInUse, running.startedAt, limits, now);
    if (result.remaining !== undefined) {
      this.#remainingRequests = result.remaining.requests;
      this.#remainingUntil = now + Math.min(result.remaining.validForMs, fairness.maxRemainingMs);
    }
  }

  /**
   * Lowers the limit after a rejection, but only once for all requests sent before it. Raises it slowly while requests are served at the
   * limit.
   */
  #adjustLimit(result: SlotResult, inUse: number, startedAt: number, limits: SlotLimits, now: number): void {
    const { refusedShare: refused, isServed } = result;
    const limit = this.currentLimit(limits, now);
    if (refused > 0) {
      if (startedAt < this.#limitCutAt) return;
      this.#learnedLimit = Math.max(1, Math.min(limit, inUse) * (1 - fairness.cut * refused));
      this.#limitCutAt = now;
    } else if (isServed && this.#learnedLimit !== undefined && inUse >= limit)
      this.#learnedLimit = Math.min(limits.concurrent, this.#learnedLimit + fairness.raise / this.#learnedLimit);
  }

  #leaveQueue(id: string): void {
    const name = this.#waitingAccounts.get(id);
    if (name === undefined) return;
    this.#waitingAccounts.delete(id);
    const { waiting } = this.#accounts.get(name) as Account;
    waiting.splice(waiting.indexOf(id), 1);
    if (waiting.length === 0) this.#readyTags.delete(name);
  }

  #grantSlots(limits: SlotLimits, now: number): string[] {
    const grantedIds: string[] = [];
    while (this.#readyTags.size > 0 && this.#msUntilRoom(limits, now) === 0) {
      const [name, tag] = this.#selectAccount();
      const account = this.#accounts.get(name) as Account;
      const id = account.waiting.shift() as string;
      this.#waitingAccounts.delete(id);
      this.#readyTags.delete(name);
      this.#startRequest(id, name, tag, now, limits);
      // Adding it again places it after accounts with the same tag.
      if (account.waiting.length > 0) this.#readyTags.set(name, Math.max(this.#virtualTime, account.virtualFinish));
      grantedIds.push(id);
    }
    return grantedIds;
  }

  #selectAccount(): [name: string, tag: number] {
    let earliest: [string, number] = ['', Infinity];
    for (const entry of this.#readyTags) if (entry[1] < earliest[1]) earliest = entry;
    return earliest;
  }

  #msUntilRoom(limits: SlotLimits, now: number): number {
    if (this.#runningRequests.size >= this.currentLimit(limits, now)) return Infinity; // a slot must become free first
    const { requests, periodMs } = limits;
    const nextArrival = Math.min(this.#nextArrival, now + periodMs);
    const rateDelay = requests === Infinity ? 0 : Math.max(nextArrival, now) + periodMs / requests - periodMs - now;
    const headerDelay = this.#remainingRequests > 0 ? 0 : this.#remainingUntil - now;
    return Math.max(0, rateDelay, headerDelay);
  }

  #createReply(
    state: SlotReply['state'],
    account: Account | undefined,
    limits: SlotLimits,
    now: number,
    granted: readonly string[],
  ): SlotReply {
    const waitingOfAccount = account?.waiting.length ?? 0;
    const lastPosition = state === 'waiting' ? waitingOfAccount : waitingOfAccount + 1;
    const otherAccounts = this.#readyTags.size - (waitingOfAccount > 0 ? 1 : 0);
    const position = lastPosition + Math.min(this.waiting - waitingOfAccount, lastPosition * otherAccounts);
    const limit = this.currentLimit(limits, now);
    const slotTime = (this.#meanMs ?? fairness.initialMeanMs) / limit;
    const slotInterval = Math.max(slotTime, limits.requests === Infinity ? 0 : limits.periodMs / limits.requests);
    const msUntilRoom = this.#msUntilRoom(limits, now);
    const minDelay = msUntilRoom === Infinity ? 0 : msUntilRoom;
    return {
      state,
      position,
      expectedMs: Math.max(position * slotInterval, minDelay),
      nextInMs: this.waiting > 0 && msUntilRoom !== Infinity ? msUntilRoom : undefined,
      grantedIds: granted,
    };
  }

  #forgetIdleAccounts(now: number): void {
    if (now - this.#sweptAt < fairness.sweepIntervalMs) return;
    this.#sweptAt = now;
    for (const [name, { running, waiting, virtualFinish, use, usedAt }] of this.#accounts) {
      const isIdle = running === 0 && waiting.length === 0 && virtualFinish <= this.#virtualTime;
      if (isIdle && decay(use, usedAt, now) < fairness.minUse) this.#accounts.delete(name);
    }
  }
}

function decay(use: number, usedAt: number, now: number): number {
  return use * 2 ** (-(now - usedAt) / fairness.halfLifeMs);
}

function updateMean(mean: number | undefined, latest: number, gain: number): number {
  return mean === undefined ? latest : mean + gain * (latest - mean);
}
