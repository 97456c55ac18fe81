import { inBackground } from '#core/platform/background.ts';
import { logFailure } from '#core/platform/errors/connection-error.ts';
import type { Host, Services } from '#core/gateway/host/host.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import { type LiveTopic, liveTopics } from '../pages/page.ts';

const channel = 'live';
/** Ms between two messages to the other instances. */
const interval = 1_000;
/** Accounts that one message names; with more, it is for all. */
const maxAccounts = 500;
/** Ms between attempts to subscribe. */
const retries = { first: 500, longest: 30_000 };

/** A topic has news, of some accounts or of all. */
export interface LiveChange {
  readonly topic: LiveTopic;
  readonly accounts: ReadonlySet<string> | undefined;
}

/** One message to the other instances: by topic the accounts, null for all. */
interface LiveMessage {
  readonly instance: string;
  readonly changes: Partial<Record<LiveTopic, readonly string[] | null>>;
}

type BusServices = Pick<Services, 'instance' | 'shared' | 'log'>;

/**
 * Carries changes to the open pages of this process at once, and to those of other instances at most once a second. A change
 * is only a hint to look again: after a gap everything counts as changed.
 */
export class LiveBus implements AsyncDisposable {
  readonly #services: BusServices;
  readonly #listeners = new Set<(change: LiveChange) => void>();
  readonly #closing = new AbortController();
  /** Accounts with changes not yet sent to other instances, by topic; undefined for all accounts. */
  readonly #unsent = new Map<LiveTopic, Set<string> | undefined>();
  #subscription: Promise<(() => void) | undefined> | undefined;
  #isSubscribed = false;
  #timer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(services: BusServices) {
    this.#services = services;
  }

  /** False while changes of other instances may be missed, so that cached values may be stale. */
  get isConnected(): boolean {
    return !this.#isShared || (this.#isSubscribed && this.#services.shared.events.isConnected);
  }

  /** @param accountIds undefined for all accounts */
  publish(topic: LiveTopic, accountIds?: Iterable<string>): void {
    const accounts = accountIds === undefined ? undefined : new Set(accountIds);
    if (accounts?.size === 0) return;
    this.#deliver({ topic, accounts });
    if (!this.#isShared || this.#closing.signal.aborted) return;
    this.#unsent.set(topic, this.#unsent.has(topic) ? join(this.#unsent.get(topic), accounts) : accounts);
    this.#sendSoon();
  }

  /** Calls `listener` with the changes of all instances. @returns the function that ends it */
  listen(listener: (change: LiveChange) => void): () => void {
    this.#listeners.add(listener);
    if (this.#isShared) this.#subscription ??= this.#subscribe();
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once changes of other instances arrive. */
  async ready(): Promise<void> {
    await this.#subscription;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    const unsubscribe = await this.#subscription;
    unsubscribe?.();
  }

  get #isShared(): boolean {
    return this.#services.shared.kind === 'redis';
  }

  #deliver(change: LiveChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #sendSoon(): void {
    const delay = Math.max(0, this.#sentAt + interval - performance.now());
    this.#timer ??= setTimeout(
      () => inBackground(this.#services.log, 'telling other instances of news for open pages', () => this.#send()),
      delay,
    ).unref();
  }

  async #send(): Promise<void> {
    this.#sentAt = performance.now();
    const unsent = new Map(this.#unsent);
    this.#unsent.clear();
    const { instance, shared } = this.#services;
    const named = [...unsent].map(([topic, accounts]) => [topic, accounts === undefined ? null : [...accounts]]);
    const message: LiveMessage = { instance, changes: Object.fromEntries(named) };
    try {
      await shared.events.publish(channel, JSON.stringify(message));
    } catch {
      // Sent with what changes meanwhile, once the store is back.
      for (const [topic, accounts] of unsent)
        this.#unsent.set(topic, this.#unsent.has(topic) ? join(this.#unsent.get(topic), accounts) : accounts);
    }
    this.#timer = undefined;
    if (this.#unsent.size > 0 && !this.#closing.signal.aborted) this.#sendSoon();
  }

  async #subscribe(): Promise<(() => void) | undefined> {
    const { shared, log } = this.#services;
    const unsubscribe = await retryUntilDone(
      () =>
        shared.events.subscribe(
          channel,
          (text) => this.#receive(text),
          () => this.#deliverAll(),
        ),
      {
        range: retries,
        signal: this.#closing.signal,
        onFailure: (error, failures) => {
          if (failures === 0)
            logFailure(log, 'open pages do not receive updates from other instances; retrying', error);
        },
      },
    );
    this.#isSubscribed = unsubscribe !== undefined;
    return unsubscribe;
  }

  #receive(text: string): void {
    const { instance, changes } = JSON.parse(text) as LiveMessage;
    if (instance === this.#services.instance) return;
    for (const topic of liveTopics) {
      const accounts = changes[topic];
      if (accounts !== undefined) this.#deliver({ topic, accounts: accounts === null ? undefined : new Set(accounts) });
    }
  }

  #deliverAll(): void {
    for (const topic of liveTopics) this.#deliver({ topic, accounts: undefined });
  }
}

function join(some: Set<string> | undefined, others: ReadonlySet<string> | undefined): Set<string> | undefined {
  if (some === undefined || others === undefined) return undefined;
  const all = some.union(others);
  return all.size > maxAccounts ? undefined : all;
}

/** The bus of this process. */
export function liveBus(host: Pick<Host, 'keep'> & BusServices): LiveBus {
  return host.keep('live-bus', () => new LiveBus(host));
}

/**
 * Updates open pages that follow the topic, on every instance. Call it when the change is committed, never on the
 * path of a request: it is cheap, and many calls count as one.
 *
 * @param accountIds whose news; all accounts when left out
 */
export function publishLive(
  host: Pick<Host, 'keep'> & BusServices,
  topic: LiveTopic,
  accountIds?: Iterable<string>,
): void {
  liveBus(host).publish(topic, accountIds);
}
