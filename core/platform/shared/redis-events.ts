import type { Redis } from 'ioredis';
import { guardListener, runInBackground } from '../background.ts';
import { describeConnectionError, isRefusedCommand } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { waitForFirst, notSettled } from '../timing/deadline.ts';
import { toSharedUnavailable } from './circuit.ts';
import type { RedisNodes } from './redis-nodes.ts';
import { LateReply } from './reply-watch.ts';
import type { Events } from './shared.ts';

const subscribeTimeoutMs = 250; // a confirmation that arrives while the process is busy is still read in time
const retryRange = { min: 500, max: 10_000 };
export const createChannelName = (channel: string) => `gw:event:${channel}`;

type Listener = (message: string) => void;

interface Subscription {
  readonly listeners: Set<Listener>;
  readonly gapListeners: Set<() => void>;
  readonly confirmation: Promise<unknown>;
}

export class RedisEvents implements Events {
  readonly #nodes: RedisNodes;
  readonly #subscriber: Redis;
  readonly #log: Logger;
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #closing = new AbortController();
  #connection = 0;
  #isResumed = true; // false until a new connection has its subscriptions
  #refusal: Events['refusal'];

  constructor(nodes: RedisNodes, subscriber: Redis, log: Logger) {
    this.#nodes = nodes;
    this.#log = log;
    this.#subscriber = subscriber;
    subscriber.on('message', (channel: string, message: string) => {
      for (const listener of this.#subscriptions.get(channel)?.listeners ?? []) listener(message);
    });
    subscriber.on('ready', () => runInBackground(log, 'resuming the subscriptions in Redis', () => this.#resume()));
    subscriber.on('close', () => {
      this.#isResumed = false;
    });
  }

  get isConnected(): boolean {
    return !this.#nodes.isOpen && this.#subscriber.status === 'ready' && this.#isResumed;
  }

  get refusal(): Events['refusal'] {
    return this.#refusal;
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  async publish(channel: string, message: string): Promise<void> {
    const name = createChannelName(channel);
    await this.#nodes.circuitOf(name).run(() => this.#nodes.publish(name, message));
  }

  async subscribe(channel: string, onMessage: Listener, onGap?: () => void): Promise<() => void> {
    const name = createChannelName(channel);
    this.#nodes.circuitOf(name).requireClosed();
    // Guarded, because messages come from other processes, which may run a different version.
    const task = `a listener of the channel ${channel} in Redis`;
    const listener = guardListener(this.#log, task, onMessage);
    const gapListener = onGap && guardListener(this.#log, task, onGap);
    const subscription = this.#subscriptions.get(name) ?? this.#open(name);
    subscription.listeners.add(listener);
    if (gapListener !== undefined) subscription.gapListeners.add(gapListener);
    const unsubscribe = () => {
      subscription.listeners.delete(listener);
      if (gapListener !== undefined) subscription.gapListeners.delete(gapListener);
      if (subscription.listeners.size > 0 || this.#subscriptions.get(name) !== subscription) return;
      this.#subscriptions.delete(name);
      this.#subscriber.unsubscribe(name).catch(() => undefined);
    };
    try {
      await subscription.confirmation;
    } catch (error) {
      unsubscribe();
      throw toSharedUnavailable(error);
    }
    return unsubscribe;
  }

  #open(name: string): Subscription {
    const confirmation = this.#sendSubscribe(name);
    const subscription = { listeners: new Set<Listener>(), gapListeners: new Set<() => void>(), confirmation };
    this.#subscriptions.set(name, subscription);
    return subscription;
  }

  /** Resubscribes after a reconnect, with retries, and reports the gap once Redis has confirmed the subscriptions. */
  async #resume(): Promise<void> {
    const connection = ++this.#connection;
    this.#isResumed = false;
    if (!(await this.#resubscribe(connection))) return;
    this.#isResumed = true;
    for (const { gapListeners } of this.#subscriptions.values()) for (const listener of gapListeners) listener();
  }

  async #resubscribe(connection: number): Promise<boolean> {
    const { signal } = this.#closing;
    const backoff = new Backoff(retryRange);
    while (this.#subscriptions.size > 0) {
      try {
        await this.#sendSubscribe(...this.#subscriptions.keys());
        return true;
      } catch (error) {
        // After a late reply, resubscribes immediately, unless there is a new connection.
        if (!(error instanceof LateReply)) await backoff.wait(signal);
        if (signal.aborted || this.#subscriber.status !== 'ready' || connection !== this.#connection) return false;
      }
    }
    return true;
  }

  /** @throws LateReply, or the error of a rejected subscription */
  async #sendSubscribe(...names: string[]): Promise<void> {
    try {
      const result = await waitForFirst([this.#subscriber.subscribe(...names)], subscribeTimeoutMs);
      if (result === notSettled) throw new LateReply();
      this.#refusal = undefined;
    } catch (error) {
      if (isRefusedCommand(error))
        this.#refusal = { reason: describeConnectionError(error), since: this.#refusal?.since ?? Date.now() };
      throw error;
    }
  }
}
