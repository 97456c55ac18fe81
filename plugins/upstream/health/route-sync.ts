import type { Logger } from '#core/platform/logger.ts';
import type { Shared } from '#core/platform/shared/shared.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import { BackgroundWork } from './background-work.ts';
import { parseMessage, readReport, storeReport, writeMessage } from './route-report.ts';
import type { RouteState } from './route-state.ts';

export interface RouteSyncParts {
  readonly instance: string;
  readonly shared: Shared;
  readonly log: Logger;
  now(): number; // epoch ms
  monotonic(): number; // ms
}

interface RouteStates {
  of(id: string): RouteState;
  readonly all: ReadonlyMap<string, RouteState>;
  onChange(): void; // after this instance changed a route and sent the change
}

const probeKey = (id: string) => `upstream/probe/${id}`;
const channel = 'upstream/breakers';
/**
 * Ms, per instance, over which simultaneous reports are spread. A failing upstream fails for all instances at once: each would otherwise
 * send the same report to every other one.
 */
const spreadPerInstance = 0.25;
const maxSimultaneous = 20;
/** Instances spread their corrections of an outdated report, so that the first one suffices. */
const correctionSpreadMs = 1_000;
const retriesMs = { first: 500, longest: 30_000 };

/**
 * Synchronizes route states between instances: sends changes to the others as events, stores them for instances that start later or were
 * disconnected, and grants probes to one instance at a time. The later of two reports wins. Requests never wait for it, except probes.
 */
export class RouteSync implements AsyncDisposable {
  readonly #parts: RouteSyncParts;
  readonly #states: RouteStates;
  readonly #closing = new AbortController();
  readonly #catchUp: BackgroundWork;
  readonly #subscription: Promise<() => void>;
  readonly #openings = new Map<string, NodeJS.Timeout>();
  readonly #corrections = new Map<string, NodeJS.Timeout>();

  constructor(parts: RouteSyncParts, states: RouteStates) {
    this.#parts = parts;
    this.#states = states;
    this.#catchUp = new BackgroundWork(parts.log, 'comparing routes with other instances', () => this.#compareAll());
    this.#subscription = this.#subscribe();
  }

  /** Sends a change of this instance to the others. */
  announce(id: string): void {
    const state = this.#states.of(id);
    state.touch(this.#parts.now());
    this.#send(id, state).catch(() => this.catchUp());
    this.#states.onChange();
  }

  /** Reports a failed route, unless another instance does so first. */
  announceOpening(id: string): void {
    const { instances } = this.#parts.shared.limiter;
    if (!this.#isShared || instances <= maxSimultaneous) return this.announce(id);
    const state = this.#states.of(id);
    const changedBefore = state.changedAt;
    schedule(this.#openings, id, instances * spreadPerInstance, () => {
      if (state.changedAt === changedBefore) this.announce(id);
    });
    this.#states.onChange();
  }

  /**
   * Compares all routes with the store, in the background.
   *
   * @param isBack true if the store is believed to be available again
   */
  catchUp(isBack = false): void {
    if (!this.#isShared) return;
    if (isBack) this.#catchUp.requestNow();
    else this.#catchUp.request();
  }

  /**
   * Claims the probe of a route for this instance. Always succeeds if there are no other instances.
   *
   * @param seconds after which another instance may probe, even without a result of this one
   */
  claimProbe(id: string, seconds: number): boolean | Promise<boolean> {
    if (!this.#isShared) return true;
    const { shared, instance } = this.#parts;
    // If the store is unavailable, an extra probe does less harm than none.
    return shared.cache.claim(probeKey(id), instance, seconds).catch(() => true);
  }

  releaseProbe(id: string): void {
    // If the release fails, the claim expires.
    if (this.#isShared) this.#parts.shared.cache.release(probeKey(id), this.#parts.instance).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#catchUp[Symbol.dispose]();
    for (const timer of [...this.#openings.values(), ...this.#corrections.values()]) clearTimeout(timer);
    const unsubscribe = await this.#subscription;
    unsubscribe();
  }

  get #isShared(): boolean {
    return this.#parts.shared.kind === 'redis';
  }

  async #subscribe(): Promise<() => void> {
    const { shared, log } = this.#parts;
    const subscribe = () =>
      shared.events.subscribe(
        channel,
        (message) => this.#receive(message),
        () => this.catchUp(true),
      );
    const onFailure = (error: unknown, failures: number) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (failures === 0) log.warn(`cannot receive route states of other instances; retrying: ${reason}`);
    };
    const unsubscribe = await retryUntilDone(subscribe, { range: retriesMs, signal: this.#closing.signal, onFailure });
    this.catchUp(true);
    return unsubscribe ?? (() => undefined);
  }

  /** @throws SharedUnavailable */
  async #send(id: string, state: RouteState): Promise<void> {
    const { instance, shared, now, monotonic } = this.#parts;
    const report = state.report(monotonic());
    const published = shared.events.publish(channel, writeMessage({ instance, id, report }, now()));
    await Promise.all(this.#isShared ? [published, storeReport(shared, id, report, now())] : [published]);
  }

  #receive(text: string): void {
    const message = parseMessage(text, this.#parts.now());
    if (message === undefined || message.instance === this.#parts.instance) return;
    const { id, report } = message;
    const state = this.#states.of(id);
    // The sender missed a newer change, and overwrote it in the store.
    if (report.at < state.changedAt)
      schedule(this.#corrections, id, correctionSpreadMs, () => {
        this.#compare(id, state).catch(() => this.catchUp());
      });
    else state.adopt(report, this.#parts.monotonic());
  }

  /**
   * Adopts newer states from the store, and sends newer local ones.
   *
   * @throws SharedUnavailable
   */
  async #compareAll(): Promise<void> {
    await Promise.all([...this.#states.all].map(([id, state]) => this.#compare(id, state)));
  }

  async #compare(id: string, state: RouteState): Promise<void> {
    const { shared, now, monotonic } = this.#parts;
    const stored = await readReport(shared, id, now());
    if (stored !== undefined && stored.at >= state.changedAt) state.adopt(stored, monotonic());
    else if (state.changedAt > 0) await this.#send(id, state);
  }
}

/** Runs the work once within `spread` ms, even if it is scheduled again meanwhile. */
function schedule(timers: Map<string, NodeJS.Timeout>, id: string, spread: number, work: () => void): void {
  if (timers.has(id)) return;
  const run = () => {
    timers.delete(id);
    work();
  };
  timers.set(id, setTimeout(run, Math.random() * spread).unref());
}
