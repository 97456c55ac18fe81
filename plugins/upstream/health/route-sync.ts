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
  onChange(): void; // this instance has changed a route, and sent it
}

const probeKey = (id: string) => `upstream/probe/${id}`;
const channel = 'upstream/breakers';
/**
 * Ms over which so many instances spread what all of them find out at once, for each of them. An upstream that fails, fails for all:
 * each would send its report to each, and all but one of them report the same.
 */
const spreadPerInstance = 0.25;
const maxSimultaneous = 20;
/** Instances spread their corrections of an older report, so that the first one suffices. */
const correctionSpreadMs = 1_000;
const retriesMs = { first: 500, longest: 30_000 };

/**
 * Synchronizes the routes of all instances: sends changes to the others as events, stores them for instances that start
 * later or were disconnected, and grants probes to one instance at a time. Of two reports the later counts. No request
 * waits for it, except a probe.
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

  /** Sends that a route has failed, unless another instance reports it first. */
  announceOpening(id: string): void {
    const { instances } = this.#parts.shared.limiter;
    if (!this.#isShared || instances <= maxSimultaneous) return this.announce(id);
    const state = this.#states.of(id);
    const known = state.changedAt;
    schedule(this.#openings, id, instances * spreadPerInstance, () => {
      if (state.changedAt === known) this.announce(id);
    });
    this.#states.onChange();
  }

  /** Compares all routes with the store, in the background. @param isBack true when the store is believed to be back */
  catchUp(isBack = false): void {
    if (!this.#isShared) return;
    if (isBack) this.#catchUp.requestNow();
    else this.#catchUp.request();
  }

  /**
   * Claims the probe of a route for this instance. True at once where there are no others.
   *
   * @param seconds after which another instance may send one, although this one has no result
   */
  claimProbe(id: string, seconds: number): boolean | Promise<boolean> {
    if (!this.#isShared) return true;
    const { shared, instance } = this.#parts;
    // Without the store, an extra probe does less harm than no probe.
    return shared.cache.claim(probeKey(id), instance, seconds).catch(() => true);
  }

  releaseProbe(id: string): void {
    // A claim that cannot be released expires.
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
    const sent = shared.events.publish(channel, writeMessage({ instance, id, report }, now()));
    await Promise.all(this.#isShared ? [sent, storeReport(shared, id, report, now())] : [sent]);
  }

  #receive(text: string): void {
    const message = parseMessage(text, this.#parts.now());
    if (message === undefined || message.instance === this.#parts.instance) return;
    const { id, report } = message;
    const state = this.#states.of(id);
    // The sender did not know the newer change, and has overwritten it in the store.
    if (report.at < state.changedAt)
      schedule(this.#corrections, id, correctionSpreadMs, () => {
        this.#compare(id, state).catch(() => this.catchUp());
      });
    else state.adopt(report, this.#parts.monotonic());
  }

  /** Reads the store's states and stores newer local ones. @throws SharedUnavailable */
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

/** Runs the work once, within `spread` ms, however often it is scheduled meanwhile. */
function schedule(timers: Map<string, NodeJS.Timeout>, id: string, spread: number, work: () => void): void {
  if (timers.has(id)) return;
  const run = () => {
    timers.delete(id);
    work();
  };
  timers.set(id, setTimeout(run, Math.random() * spread).unref());
}
