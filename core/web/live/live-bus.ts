import type { Host, Services } from '#core/gateway/host/host.ts';
import { runInBackground } from '#core/platform/background.ts';
import { logFailure } from '#core/platform/errors/connection-error.ts';
import { retryUntilDone } from '#core/platform/timing/backoff.ts';
import { type LiveTopic, liveTopics } from '../pages/page.ts';

const globalChannel = 'live'; // changes that concern all accounts, for every instance
const anyChannel = 'live/any'; // changes to any account, for instances with open pages that follow all accounts
const accountChannel = (accountId: string) => `live/account/${accountId}`;
const sendIntervalMs = 1_000;
const maxAccounts = 500; // per interval; if more accounts change, all of them count as changed

/** A change to a topic, for these accounts, or for all if undefined. Empty if this instance follows none of the changed accounts. */
export interface LiveChange {
  readonly topic: LiveTopic;
  readonly accounts: ReadonlySet<string> | undefined;
}

interface LiveMessage {
  readonly instance: string;
  readonly changes: Partial<Record<LiveTopic, readonly string[] | null>>; // account ids; null means all accounts
}

interface FollowedChannel {
  followers: number;
  isSubscribed: boolean;
  readonly subscription: Promise<(() => void) | undefined>;
  readonly ending: AbortController;
}

type BusServices = Pick<Services, 'instance' | 'shared' | 'log'>;

/**
 * Notifies open pages of changes: immediately for changes in this process, at most once a second for changes on other instances. A change
 * is only a hint to read again; after a gap, everything counts as changed. Changes to an account go only to the instances that follow it:
 * if each instance notified every other, the number of messages would grow quadratically.
 */
export class LiveBus implements AsyncDisposable {
  readonly #services: BusServices;
  readonly #listeners = new Set<(change: LiveChange) => void>();
  readonly #closing = new AbortController();
  readonly #unsent = new Map<LiveTopic, Set<string> | undefined>(); // accounts not yet sent to other instances; undefined for all
  #subscription: Promise<(() => void) | undefined> | undefined;
  #isSubscribed = false;
  readonly #followedByChannel = new Map<string, FollowedChannel>();
  #timer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(services: BusServices) {
    this.#services = services;
  }

  /** False if changes on other instances may be missed at the moment, so that cached values may be stale. */
  get isConnected(): boolean {
    return !this.#isShared || (this.#isSubscribed && this.#services.shared.events.isConnected);
  }

  /** Announces a change to these accounts, or to all accounts. */
  publish(topic: LiveTopic, accountIds?: Iterable<string>): void {
    const accounts = accountIds === undefined ? undefined : new Set(accountIds);
    if (accounts?.size === 0) return;
    this.#deliver({ topic, accounts });
    if (!this.#isShared || this.#closing.signal.aborted) return;
    this.#unsent.set(topic, this.#unsent.has(topic) ? mergeAccounts(this.#unsent.get(topic), accounts) : accounts);
    this.#sendSoon();
  }

  /** Calls `listener` for each change from any instance. The returned function removes it. */
  listen(listener: (change: LiveChange) => void): () => void {
    this.#listeners.add(listener);
    if (this.#isShared) this.#subscription ??= this.#subscribe();
    return () => this.#listeners.delete(listener);
  }

  /**
   * Subscribes to changes to an account (or to any account, if undefined) on other instances. Changes from before the first subscription
   * count as changes. The returned function ends the subscription.
   */
  follow(accountId: string | undefined): () => void {
    if (!this.#isShared) return () => {};
    const channelName = accountId === undefined ? anyChannel : accountChannel(accountId);
    const followed = this.#followedByChannel.get(channelName) ?? this.#openChannel(channelName, accountId);
    followed.followers++;
    return () => {
      if (--followed.followers > 0 || this.#followedByChannel.get(channelName) !== followed) return;
      this.#followedByChannel.delete(channelName);
      endSubscription(followed);
    };
  }

  /** Returns false if changes to this account may be missed at the moment. */
  receivesChanges(accountId: string): boolean {
    if (!this.#isShared) return true;
    return this.isConnected && this.#followedByChannel.get(accountChannel(accountId))?.isSubscribed === true;
  }

  /** Resolves when the subscriptions to all other instances are active. */
  async ready(): Promise<void> {
    await Promise.all([
      this.#subscription,
      ...this.#followedByChannel.values().map(({ subscription }) => subscription),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    for (const followed of this.#followedByChannel.values()) endSubscription(followed);
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
    const delay = Math.max(0, this.#sentAt + sendIntervalMs - performance.now());
    this.#timer ??= setTimeout(
      () =>
        runInBackground(this.#services.log, 'notifying other instances of changes for open pages', () => this.#send()),
      delay,
    ).unref();
  }

  async #send(): Promise<void> {
    this.#sentAt = performance.now();
    const unsent = new Map(this.#unsent);
    this.#unsent.clear();
    const { shared } = this.#services;
    try {
      await Promise.all([...this.#groupByChannel(unsent)].map(([name, text]) => shared.events.publish(name, text)));
    } catch {
      // Sent with the next message, once the store is available again.
      for (const [topic, accounts] of unsent)
        this.#unsent.set(topic, this.#unsent.has(topic) ? mergeAccounts(this.#unsent.get(topic), accounts) : accounts);
    }
    this.#timer = undefined;
    if (this.#unsent.size > 0 && !this.#closing.signal.aborted) this.#sendSoon();
  }

  #groupByChannel(unsent: ReadonlyMap<LiveTopic, ReadonlySet<string> | undefined>): Map<string, string> {
    const changes = new Map<string, LiveMessage['changes']>();
    const add = (name: string, topic: LiveTopic, accounts: readonly string[] | null) =>
      changes.set(name, { ...changes.get(name), [topic]: accounts });
    for (const [topic, accounts] of unsent) {
      if (accounts === undefined) add(globalChannel, topic, null);
      else add(anyChannel, topic, []);
      for (const id of accounts ?? []) add(accountChannel(id), topic, [id]);
    }
    const { instance } = this.#services;
    const stringify = (message: LiveMessage) => JSON.stringify(message);
    return new Map(
      changes.entries().map(([name, channelChanges]) => [name, stringify({ instance, changes: channelChanges })]),
    );
  }

  async #subscribe(): Promise<(() => void) | undefined> {
    const unsubscribe = await this.#listenOn(globalChannel, this.#closing.signal, () => this.#deliverAll(undefined));
    this.#isSubscribed = unsubscribe !== undefined;
    return unsubscribe;
  }

  #openChannel(name: string, accountId: string | undefined): FollowedChannel {
    const ending = new AbortController();
    const onGap = () => this.#deliverAll(new Set(accountId === undefined ? [] : [accountId]));
    const followed: FollowedChannel = {
      followers: 0,
      isSubscribed: false,
      ending,
      subscription: this.#listenOn(name, ending.signal, onGap).then((unsubscribe) => {
        followed.isSubscribed = unsubscribe !== undefined;
        if (!ending.signal.aborted) onGap();
        return unsubscribe;
      }),
    };
    this.#followedByChannel.set(name, followed);
    return followed;
  }

  #listenOn(name: string, signal: AbortSignal, onGap: () => void): Promise<(() => void) | undefined> {
    const { shared, log } = this.#services;
    return retryUntilDone(() => shared.events.subscribe(name, (text) => this.#receiveMessage(text), onGap), {
      signal,
      onFailure: (error, failures) => {
        if (failures === 0 && name === globalChannel)
          logFailure(log, 'open pages do not receive updates from other instances; retrying', error);
      },
    });
  }

  #receiveMessage(text: string): void {
    const { instance, changes } = JSON.parse(text) as LiveMessage;
    if (instance === this.#services.instance) return;
    for (const topic of liveTopics) {
      const accounts = changes[topic];
      if (accounts !== undefined) this.#deliver({ topic, accounts: accounts === null ? undefined : new Set(accounts) });
    }
  }

  #deliverAll(accounts: ReadonlySet<string> | undefined): void {
    for (const topic of liveTopics) this.#deliver({ topic, accounts });
  }
}

function endSubscription({ ending, subscription }: FollowedChannel): void {
  ending.abort();
  subscription.then((unsubscribe) => unsubscribe?.()).catch(() => undefined);
}

function mergeAccounts(
  accounts: Set<string> | undefined,
  addedAccounts: ReadonlySet<string> | undefined,
): Set<string> | undefined {
  if (accounts === undefined || addedAccounts === undefined) return undefined;
  const allAccounts = accounts.union(addedAccounts);
  return allAccounts.size > maxAccounts ? undefined : allAccounts;
}

export function getLiveBus(host: Pick<Host, 'keep'> & BusServices): LiveBus {
  return host.keep('live-bus', () => new LiveBus(host));
}

/**
 * Updates the open pages that follow the topic, on every instance; without `accountIds`, for all accounts. Call this after the commit and
 * outside the request path. Frequent calls are merged into one update.
 */
export function publishLive(
  host: Pick<Host, 'keep'> & BusServices,
  topic: LiveTopic,
  accountIds?: Iterable<string>,
): void {
  getLiveBus(host).publish(topic, accountIds);
}
