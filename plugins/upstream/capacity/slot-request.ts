import type { Route } from '#core/config/catalog/catalog.ts';
import { type Delivery, entitlement, principal } from '#core/gateway/facts.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { maxRetryDelaySeconds } from '#core/gateway/model-call/retry-after.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { unusedResult } from '#core/platform/shared/slots.ts';
import { waitForFirst, notSettled } from '#core/platform/timing/deadline.ts';
import { Fault } from '../attempt/fault.ts';
import type { CapacityPool, Place } from './pool.ts';
import { readRateHeaders } from './rate-headers.ts';
import { type SlotPools, getSlotPools, type QueueOptions } from './slot-pools.ts';

/** Missing if no upstream declares a capacity. */
export interface QueueParts {
  readonly pools: SlotPools;
  readonly options: QueueOptions;
  /** A value and not an import, so that the class is loaded only if it is needed. */
  readonly SlotRequest: typeof SlotRequest;
  /** Name of the header with the position and the wait: `x-daypass-queue`. */
  readonly header: string;
  now(): number; // epoch ms
}

/** A slot of an upstream. It is in use until the response ends. */
export class Slot {
  readonly #pool: CapacityPool;
  readonly #place: Place;
  readonly #now: () => number;
  #throttledShare = 0;
  #remainingRequests: ReturnType<typeof readRateHeaders>;

  constructor(pool: CapacityPool, place: Place, now: () => number) {
    this.#pool = pool;
    this.#place = place;
    this.#now = now;
  }

  /** @param keyCount number of the upstream's keys, because limits apply per key */
  noteLimits(
    fault: Fault | undefined,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    keyCount: number,
  ): void {
    if (fault?.kind === 'throttled') this.#throttledShare = 1 / keyCount;
    if (keyCount === 1) this.#remainingRequests = readRateHeaders(headers, this.#now()) ?? this.#remainingRequests;
  }

  /** Safe to call more than once. `isServed` is false if the duration does not predict that of other requests. */
  async release(isServed: boolean): Promise<void> {
    await this.#pool.end(this.#place, {
      isServed,
      refusedShare: this.#throttledShare,
      remaining: this.#remainingRequests,
    });
  }
}

type WaitEnd = CapacityPool | 'again' | 'late' | 'gone';

/** A request that may have to wait for slots, with its places in the queues and the time that it may still wait. */
export class SlotRequest {
  readonly #parts: QueueParts;
  readonly #exchange: Exchange;
  readonly #delivery: Delivery;
  readonly #model: string;
  readonly #places = new Map<CapacityPool, Place>();
  #wake: ((end: WaitEnd) => void) | undefined;
  #waitedMs = 0;
  #waitingSince: number | undefined; // ms after the start of the exchange
  /** Current position and expected wait or, once the request has left the queues, those that a repeated request would get. */
  #forecast: { readonly position: number; readonly expectedMs: number } | undefined;
  #isQueueFull = false;

  constructor(parts: QueueParts, exchange: Exchange, delivery: Delivery, model: string) {
    this.#parts = parts;
    this.#exchange = exchange;
    this.#delivery = delivery;
    this.#model = model;
    exchange.onAbort(() => this.#wake?.('gone'));
  }

  get prefersBackup(): boolean {
    return this.#parts.options.prefer_backup;
  }

  get remainingMs(): number {
    return this.#parts.options.wait * 1000 - this.#waitedMs;
  }

  get isGone(): boolean {
    return this.#exchange.isAborted;
  }

  get isQueued(): boolean {
    return this.#places.size > 0;
  }

  getPool({ upstream }: Route): CapacityPool | undefined {
    return this.#parts.pools.getOrCreate(upstream, this.#parts.options);
  }

  /** Takes a free slot or, if the request may wait, a place in the queue. Returns undefined if no slot was free. */
  async takeSlot(pool: CapacityPool, mayWait: boolean): Promise<Slot | undefined> {
    if (this.#places.has(pool)) return undefined;
    const { accountId: account = this.#exchange.id, limits } = this.#exchange.find(principal) ?? {};
    const weight = limits?.weight ?? this.#exchange.find(entitlement)?.limits?.weight ?? 1;
    const place = await pool.requestSlot({ account, weight, mayWait }, this.#model, () => this.#wake?.(pool));
    if (place.state === 'running') return new Slot(pool, place, this.#parts.now);
    if (place.state === 'waiting') this.#places.set(pool, place);
    else if (mayWait) this.#isQueueFull = true;
    if (this.#forecast === undefined || place.expectedMs < this.#forecast.expectedMs) this.#forecast = place;
    return undefined;
  }

  /**
   * Waits for a slot in any of its queues.
   *
   * @param retryAfterMs the wait ends with `again` after this time, so that the caller can check all routes
   * @returns `late` if the request may wait no longer, `gone` if its client has disconnected
   */
  async waitForSlot(
    retryAfterMs: number,
  ): Promise<{ readonly pool: CapacityPool; readonly slot: Slot } | 'again' | 'late' | 'gone'> {
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    this.#wake = resolve;
    this.#waitingSince = this.#exchange.elapsed;
    for (const [pool, { state }] of this.#places) if (state === 'running') resolve(pool);
    if (this.isGone) resolve('gone');
    const remainingMs = this.remainingMs;
    const ending = await waitForFirst([promise], Math.min(retryAfterMs, remainingMs));
    this.#wake = undefined;
    this.#waitedMs += this.#exchange.elapsed - this.#waitingSince;
    this.#waitingSince = undefined;
    this.#delivery.queuedFor = this.#waitedMs;
    if (ending === notSettled) {
      if (retryAfterMs < remainingMs) return 'again';
      await this.leaveQueues();
      return 'late';
    }
    if (typeof ending === 'string') return ending;
    const place = this.#places.get(ending) as Place;
    this.#places.delete(ending);
    return { pool: ending, slot: new Slot(ending, place, this.#parts.now) };
  }

  /** Leaves all queues, or only this one. Once it resolves, the places have the position and wait that a repeated request would get. */
  async leaveQueues(queue?: CapacityPool): Promise<void> {
    const places = [...this.#places].filter(([pool]) => pool === (queue ?? pool));
    for (const [pool] of places) this.#places.delete(pool);
    await Promise.all(places.map(([pool, place]) => pool.end(place, unusedResult)));
  }

  createFault(): Fault {
    const { wait, per_account } = this.#parts.options;
    const expectedSeconds = Math.ceil((this.#forecast?.expectedMs ?? 1_000) / 1000);
    const retryAfter = Math.min(maxRetryDelaySeconds, Math.max(1, expectedSeconds));
    const message = upstreamReason(`upstream.reason.${this.#isQueueFull ? 'crowded' : 'full'}`, {
      most: per_account,
      wait,
      seconds: retryAfter,
    });
    const details = { retryAfter, meaning: 'throttled', headers: this.headers } as const;
    return new Fault('throttled', new GatewayError('rate_limited', message, details));
  }

  /**
   * Header about the queue, an RFC 9651 dictionary such as `position=12, expected=4.2, waited=2.1` with times in seconds. It has no
   * position and expected wait if the request was served, and is missing if the request did not have to wait.
   */
  get headers(): Record<string, string> {
    if (this.#forecast === undefined) return {};
    const currentWaitMs = this.#waitingSince === undefined ? 0 : this.#exchange.elapsed - this.#waitingSince;
    const waitedMs = this.#waitedMs + currentWaitMs;
    const { position, expectedMs } = this.#forecast;
    const fields = [`position=${position}`, `expected=${toSeconds(expectedMs)}`, `waited=${toSeconds(waitedMs)}`];
    return { [this.#parts.header]: (this.#delivery.servedBy === undefined ? fields : fields.slice(2)).join(', ') };
  }
}

function toSeconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

export function createQueueParts(host: Host, options: QueueOptions, header: string): QueueParts {
  return { pools: getSlotPools(host), options, SlotRequest, header, now: () => host.now() };
}
