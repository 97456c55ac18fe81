import type { Route } from '#core/config/catalog/catalog.ts';
import { type Delivery, entitlement, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { maxRetryDelaySeconds } from '#core/gateway/model-call/retry-after.ts';
import { unused } from '#core/platform/shared/slots.ts';
import { firstOrTimeout, timedOut } from '#core/platform/timing/deadline.ts';
import { Fault } from '../attempt/fault.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { type SlotPools, slotPoolsOf, type QueueOptions } from './slot-pools.ts';
import type { CapacityPool, Place } from './pool.ts';
import { readRateHeaders } from './rate-headers.ts';

/** Shared parts of a stage for waiting on slots; missing if no upstream declares a capacity. */
export interface QueueParts {
  readonly pools: SlotPools;
  readonly options: QueueOptions;
  /** The class, so that it is loaded only with these parts. */
  readonly Turn: typeof Turn;
  /** Name of the header with position and wait: `x-daypass-queue`. */
  readonly header: string;
  now(): number; // epoch ms
}

/** A slot of an upstream, held until the answer ends. */
export class Slot {
  readonly #pool: CapacityPool;
  readonly #place: Place;
  readonly #now: () => number;
  #refused = 0;
  #left: ReturnType<typeof readRateHeaders>;

  constructor(pool: CapacityPool, place: Place, now: () => number) {
    this.#pool = pool;
    this.#place = place;
    this.#now = now;
  }

  /**
   * Reads from an attempt what the upstream reports about its limits.
   *
   * @param keys number of keys of the upstream; limits apply per key
   */
  observe(
    fault: Fault | undefined,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    keys: number,
  ): void {
    if (fault?.kind === 'throttled') this.#refused = 1 / keys;
    if (keys === 1) this.#left = readRateHeaders(headers, this.#now()) ?? this.#left;
  }

  /**
   * Frees the slot. Safe to call more than once.
   *
   * @param isServed false if the duration is not representative of other requests
   */
  async release(isServed: boolean): Promise<void> {
    await this.#pool.end(this.#place, { isServed, refused: this.#refused, left: this.#left });
  }
}

type WaitEnd = CapacityPool | 'again' | 'late' | 'gone';

/** A request that may have to wait for slots: its places in the queues, and how long it may wait in total. */
export class Turn {
  readonly #parts: QueueParts;
  readonly #exchange: Exchange;
  readonly #delivery: Delivery;
  readonly #model: string;
  readonly #places = new Map<CapacityPool, Place>();
  #wake: ((end: WaitEnd) => void) | undefined;
  #waited = 0; // ms
  #since: number | undefined; // ms since the exchange began
  /** Position and wait of the request, or those that it would get by asking again. */
  #outlook: { readonly position: number; readonly expected: number } | undefined;
  #isCrowded = false;

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

  /** Ms that the request may still wait. */
  get timeLeft(): number {
    return this.#parts.options.wait * 1000 - this.#waited;
  }

  get isGone(): boolean {
    return this.#exchange.isAborted;
  }

  /** True while the request waits in any queue. */
  get isQueued(): boolean {
    return this.#places.size > 0;
  }

  poolOf({ upstream }: Route): CapacityPool | undefined {
    return this.#parts.pools.of(upstream, this.#parts.options);
  }

  /**
   * Takes a slot, or a place in the queue if none is free.
   *
   * @returns undefined without a slot
   */
  async take(pool: CapacityPool, mayWait: boolean): Promise<Slot | undefined> {
    if (this.#places.has(pool)) return undefined;
    const { accountId: account = this.#exchange.id, limits } = this.#exchange.find(principal) ?? {};
    const weight = limits?.weight ?? this.#exchange.find(entitlement)?.limits?.weight ?? 1;
    const place = await pool.enter({ account, weight, mayWait }, this.#model, () => this.#wake?.(pool));
    if (place.state === 'running') return new Slot(pool, place, this.#parts.now);
    if (place.state === 'waiting') this.#places.set(pool, place);
    else if (mayWait) this.#isCrowded = true;
    if (this.#outlook === undefined || place.expected < this.#outlook.expected) this.#outlook = place;
    return undefined;
  }

  /**
   * Waits for a slot in any of its queues.
   *
   * @param retryIn ms after which the caller checks again in any case
   */
  async wait(
    retryIn: number,
  ): Promise<{ readonly pool: CapacityPool; readonly slot: Slot } | 'again' | 'late' | 'gone'> {
    const { promise, resolve } = Promise.withResolvers<WaitEnd>();
    this.#wake = resolve;
    this.#since = this.#exchange.elapsed;
    for (const [pool, { state }] of this.#places) if (state === 'running') resolve(pool);
    if (this.isGone) resolve('gone');
    const left = this.timeLeft;
    const end = await firstOrTimeout([promise], Math.min(retryIn, left));
    this.#wake = undefined;
    this.#waited += this.#exchange.elapsed - this.#since;
    this.#since = undefined;
    this.#delivery.queuedFor = this.#waited;
    if (end === timedOut) return retryIn < left ? 'again' : this.#giveUp();
    if (typeof end === 'string') return end;
    const place = this.#places.get(end) as Place;
    this.#places.delete(end);
    return { pool: end, slot: new Slot(end, place, this.#parts.now) };
  }

  /** Leaves all queues, or `only` one. Once it resolves, the places have the position and wait of asking again. */
  async leave(only?: CapacityPool): Promise<void> {
    const left = [...this.#places].filter(([pool]) => pool === (only ?? pool));
    for (const [pool] of left) this.#places.delete(pool);
    await Promise.all(left.map(([pool, place]) => pool.end(place, unused)));
  }

  async #giveUp(): Promise<'late'> {
    await this.leave();
    return 'late';
  }

  /** Error of a request that got no slot. */
  fault(): Fault {
    const { wait, per_account } = this.#parts.options;
    const retryAfter = Math.min(
      maxRetryDelaySeconds,
      Math.max(1, Math.ceil((this.#outlook?.expected ?? 1_000) / 1000)),
    );
    const message = upstreamReason(`upstream.reason.${this.#isCrowded ? 'crowded' : 'full'}`, {
      most: per_account,
      wait,
      seconds: retryAfter,
    });
    const headers = this.headers;
    return new Fault(
      'throttled',
      new GatewayError('rate_limited', message, { retryAfter, meaning: 'throttled', headers }),
    );
  }

  /**
   * Header about the queue, an RFC 9651 dictionary: `position=12, expected=4.2, waited=2.1`, in seconds. Position and expected wait are
   * omitted once the request was served. Empty if the request did not wait.
   */
  get headers(): Record<string, string> {
    const waiting = this.#since === undefined ? 0 : this.#exchange.elapsed - this.#since;
    const waited = this.#waited + waiting;
    if (this.#outlook === undefined) return {};
    const { position, expected } = this.#outlook;
    const parts = [`position=${position}`, `expected=${seconds(expected)}`, `waited=${seconds(waited)}`];
    return { [this.#parts.header]: (this.#delivery.servedBy === undefined ? parts : parts.slice(2)).join(', ') };
  }
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(1);
}

/** Returns the queue parts for a configuration that declares a capacity. */
export function queueOf(host: Host, options: QueueOptions, header: string): QueueParts {
  return { pools: slotPoolsOf(host), options, Turn, header, now: () => host.now() };
}
