import type { Redis } from 'ioredis';
import { guarded, inBackground } from '../background.ts';
import type { Logger } from '../logger.ts';
import { firstOrTimeout, timedOut } from '../timing/deadline.ts';
import { unavailable } from './circuit.ts';
import type { RedisNodes } from './redis-nodes.ts';
import { LateReply } from './reply-watch.ts';
import type { Events } from './shared.ts';

/** Ms for a subscription to be confirmed. A process that was busy meanwhile reads the confirmation before it times out. */
const subscribeTimeout = 250;
export const eventChannel = (channel: string) => `gw:event:${channel}`;

type Listener = (message: string) => void;

/** The listeners of one channel; all wait until Redis has confirmed the subscription. */
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

  constructor(nodes: RedisNodes, subscriber: Redis, log: Logger) {
    this.#nodes = nodes;
    this.#log = log;
    this.#subscriber = subscriber;
    subscriber.on('message', (channel: string, message: string) => {
      for (const listener of this.#subscriptions.get(channel)?.listeners ?? []) listener(message);
    });
    subscriber.on('ready', () => inBackground(log, 'resuming the subscriptions in Redis', () => this.#resume()));
  }

  get isConnected(): boolean {
    return !this.#nodes.isOpen && this.#subscriber.status === 'ready';
  }

  async publish(channel: string, message: string): Promise<void> {
    const name = eventChannel(channel);
    await this.#nodes.circuitOf(name).run(() => this.#nodes.publish(name, message));
  }

  async subscribe(channel: string, onMessage: Listener, onReturn?: () => void): Promise<() => void> {
    const name = eventChannel(channel);
    this.#nodes.circuitOf(name).check();
    // Messages come from other processes, which may be of another version.
    const what = `a listener of the channel ${channel} in Redis`;
    const listener = guarded(this.#log, what, onMessage);
    const onGap = onReturn && guarded(this.#log, what, onReturn);
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
    const ready = this.#confirmed(name);
    const subscription = { listeners: new Set<Listener>(), gapListeners: new Set<() => void>(), ready };
    this.#subscriptions.set(name, subscription);
    return subscription;
  }

  /** After a reconnect: reports the gap once Redis has confirmed each channel again. */
  async #resume(): Promise<void> {
    for (const [name, { gapListeners }] of this.#subscriptions) {
      if (gapListeners.size === 0) continue;
      if (await this.#isConfirmedAgain(name)) for (const listener of gapListeners) listener();
    }
  }

  /** False when the connection is lost again: the next one reports the gap. */
  async #isConfirmedAgain(name: string): Promise<boolean> {
    for (;;) {
      try {
        await this.#confirmed(name);
        return true;
      } catch (error) {
        if (this.#subscriber.status !== 'ready') return false;
        // What Redis refuses once, it refuses again.
        if (!(error instanceof LateReply)) return true;
      }
    }
  }

  /** @throws LateReply, or what Redis refuses the subscription with */
  async #confirmed(name: string): Promise<unknown> {
    const result = await firstOrTimeout([this.#subscriber.subscribe(name)], subscribeTimeout);
    if (result === timedOut) throw new LateReply();
    return result;
  }
}
