import type { Redis } from 'ioredis';
import { guardListener, runInBackground } from '../background.ts';
import { describeConnectionError, isRefusedCommand } from '../errors/connection-error.ts';
import type { Logger } from '../logger.ts';
import { Backoff } from '../timing/backoff.ts';
import { waitForFirst, notSettled } from '../timing/deadline.ts';
import { unavailable } from './circuit.ts';
import type { RedisNodes } from './redis-nodes.ts';
import { LateReply } from './reply-watch.ts';
import type { Events } from './shared.ts';

/** Ms. If the process was busy meanwhile, the confirmation is still read before the timeout. */
const subscribeTimeout = 250;
const refusedRetriesMs = { min: 500, max: 10_000 };
export const eventChannel = (channel: string) => `gw:event:${channel}`;

type Listener = (message: string) => void;

interface Subscription {
  readonly listeners: Set<Listener>;
  readonly gapListeners: Set<() => void>;
  readonly ready: Promise<unknown>;
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
    const name = eventChannel(channel);
    await this.#nodes.circuitOf(name).run(() => this.#nodes.publish(name, message));
  }

  async subscribe(channel: string, onMessage: Listener, onReturn?: () => void): Promise<() => void> {
    const name = eventChannel(channel);
    this.#nodes.circuitOf(name).check();
    // Guarded, because messages come from other processes, which may run another version.
    const what = `a listener of the channel ${channel} in Redis`;
    const listener = guardListener(this.#log, what, onMessage);
    const onGap = onReturn && guardListener(this.#log, what, onReturn);
    const subscription = this.#subscriptions.get(name) ?? this.#open(name);
    subscription.listeners.add(listener);
    if (onGap !== undefined) subscription.gapListeners.add(onGap);
    const unsubscribe = () => {
      subscription.listeners.delete(listener);
      if (onGap !== undefined) subscription.gapListeners.delete(onGap);
      if (subscription.listeners.size > 0 || this.#subscriptions.get(name) !== subscription) return;
      this.#subscriptions.delete(name);
      this.#subscriber.unsubscribe(name).catch(() => undefined);
    };
    try {
      await subscription.ready;
    } catch (error) {
      unsubscribe();
      throw unavailable(error);
    }
    return unsubscribe;
  }

  #open(name: string): Subscription {
    const ready = this.#subscribeConfirmed(name);
    const subscription = { listeners: new Set<Listener>(), gapListeners: new Set<() => void>(), ready };
    this.#subscriptions.set(name, subscription);
    return subscription;
  }

  /** Resubscribes after a reconnect, retrying as needed, and reports the gap once Redis confirmed it. */
  async #resume(): Promise<void> {
    const connection = ++this.#connection;
    this.#isResumed = false;
    if (!(await this.#resubscribe(connection))) return;
    this.#isResumed = true;
    for (const { gapListeners } of this.#subscriptions.values()) for (const listener of gapListeners) listener();
  }

  async #resubscribe(connection: number): Promise<boolean> {
    const { signal } = this.#closing;
    const backoff = new Backoff(refusedRetriesMs);
    while (this.#subscriptions.size > 0) {
      try {
        await this.#subscribeConfirmed(...this.#subscriptions.keys());
        return true;
      } catch (error) {
        // After a late reply, resubscribe immediately, unless there is a new connection.
        if (!(error instanceof LateReply)) await backoff.wait(signal);
        if (signal.aborted || this.#subscriber.status !== 'ready' || connection !== this.#connection) return false;
      }
    }
    return true;
  }

  /** @throws LateReply, or the error of a rejected subscription */
  async #subscribeConfirmed(...names: string[]): Promise<void> {
    try {
      const result = await waitForFirst([this.#subscriber.subscribe(...names)], subscribeTimeout);
      if (result === notSettled) throw new LateReply();
      this.#refusal = undefined;
    } catch (error) {
      if (isRefusedCommand(error))
        this.#refusal = { reason: describeConnectionError(error), since: this.#refusal?.since ?? Date.now() };
      throw error;
    }
  }
}
