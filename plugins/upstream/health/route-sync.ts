import type { Host } from '#core/gateway/host/host.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import { BackgroundWork } from './background-work.ts';
import { parseMessage, readReport, storeReport, serializeMessage } from './route-report.ts';
import type { RouteState } from './route-state.ts';

export type RouteSyncParts = Pick<Host, 'instance' | 'shared' | 'log' | 'now' | 'monotonic'>;

interface RouteStates {
  getState(id: string): RouteState;
  readonly byId: ReadonlyMap<string, RouteState>;
  onChange(): void; // after this instance has changed a route and sent the change
}

const probeKey = (id: string) => `upstream/probe/${id}`;
const channel = 'upstream/breakers';
/**
 * Simultaneous reports are spread over this much time per instance. An upstream fails for all instances at once. Without the spread, each
 * of them would send the same report to every other instance.
 */
const spreadMsPerInstance = 0.25;
const maxImmediateInstances = 20;
const correctionSpreadMs = 1_000; // so that one correction of an outdated report is enough

/**
 * Synchronizes route states between instances. It sends changes to the other instances as events, stores them for instances that start
 * later or were disconnected, and lets only one instance probe at a time. Of two reports, the later one wins. Requests never wait for it,
 * except probes.
 */
export class RouteSync implements AsyncDisposable {
  readonly #parts: RouteSyncParts;
  readonly #states: RouteStates;
  readonly #closing = new AbortController();
  readonly #catchUpWork: BackgroundWork;
  readonly #subscription: Promise<() => void>;
  readonly #openingTimers = new Map<string, NodeJS.Timeout>();
  readonly #correctionTimers = new Map<string, NodeJS.Timeout>();

  constructor(parts: RouteSyncParts, states: RouteStates) {
    this.#parts = parts;
    this.#states = states;
    this.#catchUpWork = new BackgroundWork(parts.log, 'comparing routes with other instances', () =>
      this.#reconcileAll(),
    );
    this.#subscription = this.#subscribe();
  }

  announce(id: string): void {
    const state = this.#states.getState(id);
    state.markChanged(this.#parts.now());
    this.#send(id, state).catch(() => this.catchUp());
    this.#states.onChange();
  }

  /** Reports that a route failed, unless another instance reports it first. */
  announceOpening(id: string): void {
    const { instances } = this.#parts.shared.limiter;
    if (!this.#isShared || instances <= maxImmediateInstances) return this.announce(id);
    const state = this.#states.getState(id);
    const changedBefore = state.changedAt;
    scheduleOnce(this.#openingTimers, id, instances * spreadMsPerInstance, () => {
      if (state.changedAt === changedBefore) this.announce(id);
    });
    this.#states.onChange();
  }

  /** Reconciles all routes with the store, in the background. */
  catchUp(): void {
    if (this.#isShared) this.#catchUpWork.request();
  }

  #catchUpNow(): void {
    if (this.#isShared) this.#catchUpWork.requestNow();
  }

  /** Always succeeds if there are no other instances. After `seconds`, another instance may probe even if this probe has no result. */
  claimProbe(id: string, seconds: number): boolean | Promise<boolean> {
    if (!this.#isShared) return true;
    const { shared, instance } = this.#parts;
    // If the store is unavailable, one probe too many does less harm than none.
    return shared.cache.claim(probeKey(id), instance, seconds).catch(() => true);
  }

  releaseProbe(id: string): void {
    // If this fails, the claim expires by itself.
    if (this.#isShared) this.#parts.shared.cache.release(probeKey(id), this.#parts.instance).catch(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#catchUpWork[Symbol.dispose]();
    for (const timer of [...this.#openingTimers.values(), ...this.#correctionTimers.values()]) clearTimeout(timer);
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
        () => this.#catchUpNow(),
      );
    const onFailure = (error: unknown, failures: number) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (failures === 0) log.warn(`cannot receive route states of other instances; retrying: ${reason}`);
    };
    const { signal } = this.#closing;
    const unsubscribe = await retryUntilDone(subscribe, { signal, onFailure });
    this.#catchUpNow();
    return unsubscribe ?? (() => undefined);
  }

  /** @throws SharedUnavailable */
  async #send(id: string, state: RouteState): Promise<void> {
    const { instance, shared, now, monotonic } = this.#parts;
    const report = state.createReport(monotonic());
    const publishing = shared.events.publish(channel, serializeMessage({ instance, id, report }, now()));
    await Promise.all(this.#isShared ? [publishing, storeReport(shared, id, report, now())] : [publishing]);
  }

  #receive(text: string): void {
    const message = parseMessage(text, this.#parts.now());
    if (message === undefined || message.instance === this.#parts.instance) return;
    const { id, report } = message;
    const state = this.#states.getState(id);
    // The sender did not know of a newer change and has overwritten it in the store.
    if (report.at < state.changedAt)
      scheduleOnce(this.#correctionTimers, id, correctionSpreadMs, () => {
        this.#reconcile(id, state).catch(() => this.catchUp());
      });
    else state.adopt(report, this.#parts.monotonic());
  }

  /**
   * Adopts newer states from the store, and sends local states that are newer.
   *
   * @throws SharedUnavailable
   */
  async #reconcileAll(): Promise<void> {
    await Promise.all([...this.#states.byId].map(([id, state]) => this.#reconcile(id, state)));
  }

  async #reconcile(id: string, state: RouteState): Promise<void> {
    const { shared, now, monotonic } = this.#parts;
    const stored = await readReport(shared, id, now());
    if (stored !== undefined && stored.at >= state.changedAt) state.adopt(stored, monotonic());
    else if (state.changedAt > 0) await this.#send(id, state);
  }
}

function scheduleOnce(timers: Map<string, NodeJS.Timeout>, id: string, spreadMs: number, work: () => void): void {
  if (timers.has(id)) return;
  const run = () => {
    timers.delete(id);
    work();
  };
  timers.set(id, setTimeout(run, Math.random() * spreadMs).unref());
}
