import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { SharedUnavailable } from '#core/platform/shared/shared.ts';
import {
  heartbeatIntervalMs,
  type RequestedSlot,
  type SlotLimits,
  type SlotReply,
  type SlotResult,
  type SlotStore,
  unusedResult,
} from '#core/platform/shared/slots.ts';
import { Throttle } from '#core/platform/timing/throttle.ts';
import { FairQueue } from './fair-queue.ts';

const warnIntervalMs = 60_000;
const unlimitedWaiting = { waitingByAccount: Infinity, waiting: Infinity }; // for requests that already wait

export interface PoolParts {
  readonly log: Logger;
  /** Undefined if this process is the only instance. */
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
  expectedMs: number;
  startedAt: number; // when it got its slot; monotonic ms
  /** Called once, if it is granted a slot after waiting. */
  onGrant: () => void;
}

/**
 * The slots of an upstream as this instance sees them. This instance's places are authoritative: they are sent to the store, and sent again
 * if the store has lost them. While the store is unavailable, the instance grants its own share of the slots, to the same places in the
 * same order.
 */
export class CapacityPool implements Disposable {
  readonly name: string;
  /** Name of the pool in the store. */
  readonly key: string;
  limits: SlotLimits;
  readonly #parts: PoolParts;
  readonly #places = new Map<string, Place>();
  #timer: NodeJS.Timeout | undefined;
  #nextBeatAt = 0; // `performance.now()` ms
  readonly #warningThrottle = new Throttle(warnIntervalMs);
  #localQueue: FairQueue | undefined; // grants slots while there is no store or it is unavailable
  #isBeating = false;
  #isClosed = false;
  #lastPlaceNumber = 0;

  constructor(name: string, key: string, limits: SlotLimits, parts: PoolParts) {
    this.name = name;
    this.key = key;
    this.limits = limits;
    this.#parts = parts;
    if (parts.store === undefined) this.#localQueue = new FairQueue();
  }

  get places(): Iterable<Place> {
    return this.#places.values();
  }

  /** Requests a slot. Resolves with a place that is `running`, `waiting` or `refused`. */
  async requestSlot(request: Omit<RequestedSlot, 'id'>, model: string, onGrant: () => void): Promise<Place> {
    const { account, weight, mayWait } = request;
    const id = `${this.#parts.store?.instance ?? 'local'}:${++this.#lastPlaceNumber}`;
    const place: Place = {
      id,
      account,
      weight,
      model,
      state: 'entering',
      position: 0,
      expectedMs: 0,
      startedAt: 0,
      onGrant,
    };
    this.#places.set(id, place);
    await this.#enter(place, mayWait);
    this.#scheduleBeat(heartbeatIntervalMs);
    return place;
  }

  /**
   * Frees the slot or gives up the place. Safe to call more than once; never rejects. Once it resolves, the place has the position and the
   * expected wait that its account would get now.
   */
  async end(place: Place, result: SlotResult): Promise<void> {
    const previousState = place.state;
    if (previousState === 'over' || previousState === 'refused') return;
    place.state = 'over';
    this.#places.delete(place.id);
    // The slot is freed when the reply to `enter` arrives.
    if (previousState === 'entering') return;
    const reply = await this.#end(place.id, result);
    if (reply !== undefined) updateForecast(place, reply);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** This instance's share of the limits, for when it grants slots itself. */
  get #localLimits(): SlotLimits {
    const instances = Math.max(1, this.#parts.store?.instances ?? 1);
    const { concurrent, requests, ...otherLimits } = this.limits;
    return {
      ...otherLimits,
      concurrent: Math.max(1, Math.floor(concurrent / instances)),
      requests: requests / instances,
    };
  }

  async #enter(place: Place, mayWait: boolean): Promise<void> {
    if (this.#localQueue === undefined) {
      const { store } = this.#parts;
      try {
        const reply = await (store as SlotStore).enter(this.key, this.limits, { ...place, mayWait });
        return this.#applyReply(place, reply);
      } catch (error) {
        this.#switchToLocal(error);
      }
    }
    // After a failure, `#switchToLocal` has created the local queue.
    if (place.state === 'entering') this.#enterLocal(place, mayWait);
  }

  #enterLocal(place: Place, mayWait: boolean, limits: SlotLimits = this.#localLimits): void {
    const queue = this.#localQueue as FairQueue;
    this.#applyReply(place, queue.enter({ ...place, mayWait }, limits, this.#parts.monotonic()));
  }

  #applyReply(place: Place, reply: SlotReply): void {
    this.#applyGrants(reply);
    // Another instance may have granted the slot before the reply arrived.
    if (place.state === 'running') return;
    if (place.state === 'over') {
      if (reply.state !== 'refused') this.#endUnused(place.id);
      return;
    }
    updateForecast(place, reply);
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

  #applyGrants({ grantedIds: granted, nextInMs: nextIn }: SlotReply): void {
    for (const id of granted) this.grant(id);
    if (nextIn !== undefined) this.#scheduleBeat(Math.min(heartbeatIntervalMs, nextIn + 1));
  }

  /** Applies a grant that another call or another instance made for this id. */
  grant(id: string): void {
    const place = this.#places.get(id);
    if (place === undefined) this.#endUnused(id);
    else this.#grant(place);
  }

  #endUnused(id: string): void {
    runInBackground(this.#parts.log, `freeing a slot of ${this.name}`, () => this.#end(id, unusedResult));
  }

  /** @returns undefined if the store is unavailable; a later heartbeat then reports the end, or the lease runs out */
  async #end(id: string, result: SlotResult): Promise<SlotReply | undefined> {
    let reply: SlotReply | undefined;
    if (this.#localQueue !== undefined)
      reply = this.#localQueue.end(id, result, this.#localLimits, this.#parts.monotonic());
    else
      try {
        reply = await (this.#parts.store as SlotStore).end(this.key, this.limits, id, result);
      } catch (error) {
        this.#switchToLocal(error);
      }
    if (reply !== undefined) this.#applyGrants(reply);
    return reply;
  }

  #switchToLocal(error: unknown): void {
    if (!(error instanceof SharedUnavailable)) throw error;
    if (this.#localQueue !== undefined) return;
    if (this.#warningThrottle.tryPass())
      this.#parts.log.warn(
        `each instance grants its own share of the slots of upstream ${this.name}: ${error.message}`,
      );
    const localQueue = (this.#localQueue = new FairQueue());
    const now = this.#parts.monotonic();
    const { running, waiting } = this.#placesByState();
    for (const place of running)
      localQueue.adopt({ ...place, mayWait: false }, this.#localLimits, now, Math.max(0, now - place.startedAt));
    for (const place of waiting) this.#enterLocal(place, true, { ...this.#localLimits, ...unlimitedWaiting });
    this.#scheduleBeat(heartbeatIntervalMs);
  }

  #placesByState(): Record<'running' | 'waiting', Place[]> {
    const places = [...this.#places.values()];
    const inState = (expected: Place['state']) => places.filter(({ state }) => state === expected);
    return { running: inState('running'), waiting: inState('waiting') };
  }

  #scheduleBeat(milliseconds: number): void {
    if (this.#isClosed || this.#isBeating || this.#places.size === 0) return;
    const beatAt = performance.now() + milliseconds;
    if (this.#timer !== undefined && this.#nextBeatAt <= beatAt) return;
    clearTimeout(this.#timer);
    this.#nextBeatAt = beatAt;
    this.#timer = setTimeout(() => this.startBeat(), milliseconds).unref();
  }

  startBeat(): void {
    runInBackground(this.#parts.log, `the slots of ${this.name}`, () => this.beat());
  }

  /** Sends a heartbeat to the store and reconciles the store with the places of this instance. */
  async beat(): Promise<void> {
    if (this.#isBeating || this.#isClosed) return;
    this.#isBeating = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let nextIn = heartbeatIntervalMs;
    try {
      const { store } = this.#parts;
      if (store !== undefined) await this.#reconcile(store);
      if (this.#localQueue !== undefined) {
        const reply = this.#localQueue.beat(this.#localLimits, this.#parts.monotonic());
        this.#applyGrants(reply);
        nextIn = Math.min(nextIn, (reply.nextInMs ?? heartbeatIntervalMs) + 1);
      }
    } finally {
      this.#isBeating = false;
      this.#scheduleBeat(nextIn);
    }
  }

  async #reconcile(store: SlotStore): Promise<void> {
    const placesBefore = this.#placesByState();
    try {
      const reply = await store.beat(this.key, this.limits);
      const wasLocal = this.#localQueue !== undefined;
      // From here on, the store decides again. Places that it does not know are sent below.
      this.#localQueue = undefined;
      this.#applyGrants(reply);
      const storedPlaces = reply.hasSlotById ?? new Map<string, boolean>();
      const granted = new Set(reply.grantedIds);
      for (const [id, isRunning] of storedPlaces) {
        const place = this.#places.get(id);
        if (isRunning && place !== undefined) this.#grant(place);
      }
      // Slots in use are reported before ended ones; otherwise the store would grant them to other instances.
      for (const place of wasLocal ? this.#placesByState().running : placesBefore.running)
        if (place.state === 'running' && storedPlaces.get(place.id) !== true && !granted.has(place.id))
          await store.adopt(
            this.key,
            this.limits,
            { ...place, mayWait: false },
            this.#parts.monotonic() - place.startedAt,
          );
      for (const place of wasLocal ? this.#placesByState().waiting : placesBefore.waiting)
        if (place.state === 'waiting' && !storedPlaces.has(place.id))
          this.#applyReply(
            place,
            await store.enter(this.key, { ...this.limits, ...unlimitedWaiting }, { ...place, mayWait: true }),
          );
      for (const id of storedPlaces.keys()) if (!this.#places.has(id)) this.#endUnused(id);
      if (wasLocal) this.#parts.log.info(`instances share the slots of upstream ${this.name} again`);
    } catch (error) {
      this.#switchToLocal(error);
    }
  }
}

function updateForecast(place: Place, { position, expectedMs }: SlotReply): void {
  place.position = position;
  place.expectedMs = expectedMs;
}
