import type { Route } from '#core/config/catalog/catalog.ts';
import { type Delivery, entitlement, principal } from '#core/gateway/facts.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { maxRetryDelay } from '#core/gateway/model-call/retry-after.ts';
import { unused } from '#core/platform/shared/slots.ts';
import { firstOrTimeout, timedOut } from '#core/platform/timing/deadline.ts';
import { Fault } from '../attempt/fault.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { type SlotPools, slotPoolsOf, type QueueOptions } from './slot-pools.ts';
import type { CapacityPool, Place } from './pool.ts';
import { readRateHeaders } from './rate-headers.ts';

/** A stage's shared parts for waiting on slots; missing if no upstream declares a capacity. */
export interface QueueParts {
  readonly pools: SlotPools;
  readonly options: QueueOptions;
  /** The class, which is loaded with this. */
  readonly Turn: typeof Turn;
  /** Name of the header with place and time: `x-daypass-queue`. */
  readonly header: string;
  now(): number; // epoch ms
}

/** A slot of an upstream, held until the answer has ended. */
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

  /** Learns from an attempt: what the upstream says about its limits. @param keys of the upstream, each of which has its limit */
  observe(
    fault: Fault | undefined,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    keys: number,
  ): void {
    if (fault?.kind === 'throttled') this.#refused = 1 / keys;
    if (keys === 1) this.#left = readRateHeaders(headers, this.#now()) ?? this.#left;
  }

  /** Frees the slot. Safe to call more than once. @param isServed false where the time says nothing about other requests */
  async release(isServed: boolean): Promise<void> {
    await this.#pool.end(this.#place, { isServed, refused: this.#refused, left: this.#left });
  }
}

type WaitEnd = CapacityPool | 'again' | 'late' | 'gone';

/** One request that may have to wait for slots: where it stands in line, and how long it may wait in all. */
export class Turn {
  readonly #parts: QueueParts;
  readonly #exchange: Exchange;
  readonly #delivery: Delivery;
  readonly #model: string;
  readonly #places = new Map<CapacityPool, Place>();
  #wake: ((end: WaitEnd) => void) | undefined;
  #waited = 0; // ms
  #since: number | undefined; // ms since the exchange began
  /** The request's place in the queue, or the one it would get by asking again. */
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

  /** Ms for which it may still wait. */
  get timeLeft(): number {
    return this.#parts.options.wait * 1000 - this.#waited;
  }

  get isGone(): boolean {
    return this.#exchange.isAborted;
  }

  /** True while it stands in line somewhere. */
  get isInLine(): boolean {
    return this.#places.size > 0;
  }

  poolOf({ upstream }: Route): CapacityPool | undefined {
    return this.#parts.pools.of(upstream, this.#parts.options);
  }

  /** Takes a slot, or a place in line where there is none. @returns undefined without a slot */
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

  /** Waits for one of its places. @param retryIn ms after which the caller looks again in any case */
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

  /** Leaves every line, or one. Resolves when the places say how it would stand if it asked again. */
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
    const retryAfter = Math.min(maxRetryDelay, Math.max(1, Math.ceil((this.#outlook?.expected ?? 1_000) / 1000)));
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
   * The header about the queue, a dictionary of RFC 9651: `position=12, expected=4.2, waited=2.1`, in seconds. Position and time that
   * were expected are left out once the request has been served. Empty for one that did not wait.
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

/** The queues of a configuration that declares a capacity. */
export function queueOf(host: Host, options: QueueOptions, header: string): QueueParts {
  return { pools: slotPoolsOf(host), options, Turn, header, now: () => host.now() };
}
