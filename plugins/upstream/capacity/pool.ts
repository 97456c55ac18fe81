import { inBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import {
  beatInterval,
  type SlotAsk,
  type SlotLimits,
  type SlotReply,
  type SlotResult,
  type SlotStore,
  unused,
} from '#core/platform/shared/slots.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { FairQueue } from './fair-queue.ts';

const warnIntervalMs = 60_000;

export interface PoolParts {
  readonly log: Logger;
  /** Undefined in a gateway of one process. */
  readonly store: SlotStore | undefined;
  monotonic(): number; // ms
}

/** A request of this instance that waits for a slot, holds one, or has ended. */
export interface Place {
  readonly id: string;
  readonly account: string;
  readonly weight: number;
  readonly model: string;
  state: 'entering' | 'waiting' | 'running' | 'refused' | 'over';
  /** Last known position and expected wait; see SlotReply. */
  position: number;
  expected: number; // ms
  startedAt: number; // when it got its slot
  /** Called once, when it gets a slot after waiting. */
  onGrant: () => void;
}

/**
 * Slots of an upstream as seen by this instance. The places here are authoritative for this instance: they are sent to the store, and again
 * if it lost them. While the store is unavailable, the instance grants its share of the slots by itself, to the same places in the same
 * order.
 */
export class CapacityPool implements Disposable {
  readonly name: string;
  /** Name of the pool in the store. */
  readonly key: string;
  /** Limits from the current configuration. */
  limits: SlotLimits;
  readonly #parts: PoolParts;
  readonly #places = new Map<string, Place>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = 0; // performance.now()
  readonly #warning = new Throttle(warnIntervalMs);
  /** Set while there is no store, or it is unavailable: it then grants the slots. */
  #local: FairQueue | undefined;
  #isBeating = false;
  #isClosed = false;
  #count = 0;

  constructor(name: string, key: string, limits: SlotLimits, parts: PoolParts) {
    this.name = name;
    this.key = key;
    this.limits = limits;
    this.#parts = parts;
    if (parts.store === undefined) this.#local = new FairQueue();
  }

  get places(): Iterable<Place> {
    return this.#places.values();
  }

  /** Requests a slot. Resolves with a place that is `running`, `waiting` or `refused`. */
  async enter(ask: Omit<SlotAsk, 'id'>, model: string, onGrant: () => void): Promise<Place> {
    const { account, weight, mayWait } = ask;
    const id = `${this.#parts.store?.instance ?? 'local'}:${++this.#count}`;
    const place: Place = {
      id,
      account,
      weight,
      model,
      state: 'entering',
      position: 0,
      expected: 0,
      startedAt: 0,
      onGrant,
    };
    this.#places.set(id, place);
    await this.#enter(place, mayWait);
    this.#scheduleBeat(beatInterval);
    return place;
  }

  /**
   * Frees the slot, or gives up the place. Safe to call more than once; never rejects. Once it resolves, the place has the position and
   * wait that its account would get now.
   */
  async end(place: Place, result: SlotResult): Promise<void> {
    const before = place.state;
    if (before === 'over' || before === 'refused') return;
    place.state = 'over';
    this.#places.delete(place.id);
    // The reply to `enter` frees it.
    if (before === 'entering') return;
    const reply = await this.#end(place.id, result);
    if (reply !== undefined) Object.assign(place, { position: reply.position, expected: reply.expected });
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** This instance's share of the limits, while it grants slots by itself. */
  get #share(): SlotLimits {
    const instances = Math.max(1, this.#parts.store?.instances ?? 1);
    const { concurrent, requests, ...rest } = this.limits;
    return { ...rest, concurrent: Math.max(1, Math.floor(concurrent / instances)), requests: requests / instances };
  }

  async #enter(place: Place, mayWait: boolean): Promise<void> {
    if (this.#local === undefined) {
      const { store } = this.#parts;
      try {
        const reply = await (store as SlotStore).enter(this.key, this.limits, { ...place, mayWait });
        return this.#settle(place, reply);
      } catch (error) {
        this.#leaveStore(error);
      }
    }
    if (place.state === 'entering') this.#enterLocal(this.#local as FairQueue | undefined as FairQueue, place, mayWait);
  }

  #enterLocal(local: FairQueue, place: Place, mayWait: boolean, limits: SlotLimits = this.#share): void {
    this.#settle(place, local.enter({ ...place, mayWait }, limits, this.#parts.monotonic()));
  }

  #settle(place: Place, reply: SlotReply): void {
    this.#follow(reply);
    // A grant by another instance may arrive before the reply.
    if (place.state === 'running') return;
    if (place.state === 'over') {
      if (reply.state !== 'refused') this.#endUnused(place.id);
      return;
    }
    place.position = reply.position;
    place.expected = reply.expected;
    if (reply.state === 'running') this.#grant(place);
    else if (reply.state === 'waiting') place.state = 'waiting';
    else {
      place.state = 'refused';
      this.#places.delete(place.id);
    }
  }

  #grant(place: Place): void {
    if (place.state === 'running' || place.state === 'over') return;
    const hasWaited = place.state === 'waiting';
    place.state = 'running';
    place.startedAt = this.#parts.monotonic();
    if (hasWaited) place.onGrant();
  }

  #follow({ granted, nextIn }: SlotReply): void {
    for (const id of granted) this.grant(id);
    if (nextIn !== undefined) this.#scheduleBeat(Math.min(beatInterval, nextIn + 1));
  }

  /** Another call, or instance, granted a slot to this id. */
  grant(id: string): void {
    const place = this.#places.get(id);
    if (place === undefined) this.#endUnused(id);
    else this.#grant(place);
  }

  #endUnused(id: string): void {
    inBackground(this.#parts.log, `freeing a slot of ${this.name}`, () => this.#end(id, unused));
  }

  /** @returns undefined while the store is unavailable; a later heartbeat reports the end, or the lease expires */
  async #end(id: string, result: SlotResult): Promise<SlotReply | undefined> {
    let reply: SlotReply | undefined;
    if (this.#local !== undefined) reply = this.#local.end(id, result, this.#share, this.#parts.monotonic());
    else
      try {
        reply = await (this.#parts.store as SlotStore).end(this.key, this.limits, id, result);
      } catch (error) {
        this.#leaveStore(error);
      }
    if (reply !== undefined) this.#follow(reply);
    return reply;
  }

  /**
   * Grants slots locally until the store is available again.
   *
   * @throws errors that do not concern the store
   */
  #leaveStore(error: unknown): void {
    if (!(error instanceof SharedUnavailable)) throw error;
    if (this.#local !== undefined) return;
    if (this.#warning.pass())
      this.#parts.log.warn(`slots of the upstream ${this.name} are shared out by each instance: ${error.message}`);
    const local = (this.#local = new FairQueue());
    const now = this.#parts.monotonic();
    const { running, waiting } = this.#placesByState();
    for (const place of running)
      local.adopt({ ...place, mayWait: false }, this.#share, now, Math.max(0, now - place.startedAt));
    for (const place of waiting) this.#enterLocal(local, place, true, { ...this.#share, ...boundless });
    this.#scheduleBeat(beatInterval);
  }

  #placesByState(): Record<'running' | 'waiting', Place[]> {
    const all = [...this.#places.values()];
    const inState = (wanted: Place['state']) => all.filter(({ state }) => state === wanted);
    return { running: inState('running'), waiting: inState('waiting') };
  }

  #scheduleBeat(milliseconds: number): void {
    if (this.#isClosed || this.#isBeating || this.#places.size === 0) return;
    const at = performance.now() + milliseconds;
    if (this.#timer !== undefined && this.#wakesAt <= at) return;
    clearTimeout(this.#timer);
    this.#wakesAt = at;
    this.#timer = setTimeout(() => this.beatSoon(), milliseconds).unref();
  }

  beatSoon(): void {
    inBackground(this.#parts.log, `the slots of ${this.name}`, () => this.beat());
  }

  /** Sends a heartbeat to the store, and reconciles both states. */
  async beat(): Promise<void> {
    if (this.#isBeating || this.#isClosed) return;
    this.#isBeating = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let nextIn = beatInterval;
    try {
      const { store } = this.#parts;
      if (store !== undefined) await this.#compare(store);
      if (this.#local !== undefined) {
        const reply = this.#local.beat(this.#share, this.#parts.monotonic());
        this.#follow(reply);
        nextIn = Math.min(nextIn, (reply.nextIn ?? beatInterval) + 1);
      }
    } finally {
      this.#isBeating = false;
      this.#scheduleBeat(nextIn);
    }
  }

  async #compare(store: SlotStore): Promise<void> {
    const before = this.#placesByState();
    try {
      const reply = await store.beat(this.key, this.limits);
      const wasLocal = this.#local !== undefined;
      // From here on the store decides again; places that it does not know are sent below.
      this.#local = undefined;
      this.#follow(reply);
      const held = reply.held ?? new Map<string, boolean>();
      const granted = new Set(reply.granted);
      for (const [id, isRunning] of held) {
        const place = this.#places.get(id);
        if (isRunning && place !== undefined) this.#grant(place);
      }
      // Slots in use are reported before ended ones, which the store would otherwise grant to others.
      for (const place of wasLocal ? this.#placesByState().running : before.running)
        if (place.state === 'running' && held.get(place.id) !== true && !granted.has(place.id))
          await store.adopt(
            this.key,
            this.limits,
            { ...place, mayWait: false },
            this.#parts.monotonic() - place.startedAt,
          );
      for (const place of wasLocal ? this.#placesByState().waiting : before.waiting)
        if (place.state === 'waiting' && !held.has(place.id))
          this.#settle(
            place,
            await store.enter(this.key, { ...this.limits, ...boundless }, { ...place, mayWait: true }),
          );
      for (const id of held.keys()) if (!this.#places.has(id)) this.#endUnused(id);
      if (wasLocal) this.#parts.log.info(`slots of the upstream ${this.name} are shared between instances again`);
    } catch (error) {
      this.#leaveStore(error);
    }
  }
}

/** Limits for requests that already wait: they may continue to. */
const boundless = { waitingByAccount: Infinity, waiting: Infinity };
