import { EventEmitter } from 'node:events';
import type { Redis } from 'ioredis';
import { redisRetryDelay, type ScriptedRedis } from '#core/platform/shared/redis-client.ts';
import type { Clock } from './clock.ts';
import { Link, type Peer, type Reply, type SimulatedRedis } from './redis-server.ts';

const notConnected = "Stream isn't writeable and enableOfflineQueue options is false"; // of ioredis, while it has no connection

/**
 * Stands in for an ioredis client: connects, reconnects with the gateway's delays, and fails commands while disconnected. It supports the
 * commands that the gateway sends.
 */
export class RedisConnection extends EventEmitter implements Peer {
  status: 'connecting' | 'ready' | 'close' = 'connecting';
  inbound: Link;
  readonly stream = { destroy: (): void => this.closed() }; // for `replaceConnection`
  readonly #clock: Clock;
  readonly #server: SimulatedRedis;
  readonly #loss: number;
  #outbound: Link;
  readonly #waiting = new Set<Reply>(); // commands without a reply
  readonly #subscribed = new Set<string>(); // restored on reconnecting
  #attempt = 0;
  #isDead = false;

  constructor(clock: Clock, server: SimulatedRedis, loss: number) {
    super();
    this.setMaxListeners(0);
    this.#clock = clock;
    this.#server = server;
    this.#loss = loss;
    this.inbound = new Link(clock, loss);
    this.#outbound = new Link(clock, loss);
    this.#connect();
  }

  /** From this call on, nothing is sent or received. */
  die(): void {
    this.#isDead = true;
  }

  disconnect(): void {
    this.die();
  }

  message(channel: string, text: string): void {
    if (!this.#isDead && this.status === 'ready') this.emit('message', channel, text);
  }

  closed(): void {
    if (this.#isDead || this.status === 'close') return;
    this.status = 'close';
    const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    for (const reply of this.#waiting) reply.reject(error);
    this.#waiting.clear();
    this.emit('close');
    this.#clock.after(redisRetryDelay(++this.#attempt), () => this.#connect());
  }

  subscribe(channel: string): Promise<unknown> {
    this.#subscribed.add(channel);
    return this.#send((reply) => this.#server.subscribe(this, channel, reply), true);
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#subscribed.delete(channel);
    this.#outbound.send(() => this.#server.unsubscribe(this, channel));
  }

  publish(channel: string, text: string): Promise<unknown> {
    return this.#send((reply) => this.#server.publish(this, channel, text, reply));
  }

  call(name: string, keyCount: number, parameters: readonly unknown[]): Promise<unknown> {
    return this.#send((reply) =>
      this.#server.receive(this, name, parameters.slice(0, keyCount), parameters.slice(keyCount), reply),
    );
  }

  #connect(): void {
    if (this.#isDead) return;
    this.status = 'connecting';
    this.inbound = new Link(this.#clock, this.#loss);
    this.#outbound = new Link(this.#clock, this.#loss);
    const onReady = () => {
      if (this.status !== 'connecting') return;
      this.status = 'ready';
      this.#attempt = 0;
      for (const channel of this.#subscribed) this.subscribe(channel).catch(() => undefined);
      this.emit('ready');
    };
    this.#outbound.send(() => {
      if (this.#server.connect(this, onReady)) return;
      this.emit('error', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
      this.closed();
    });
  }

  #send(deliver: (reply: Reply) => void, isQueued = false): Promise<unknown> {
    if (this.#isDead) return new Promise(() => undefined);
    if (this.status !== 'ready' && !isQueued) return Promise.reject(new Error(notConnected));
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const end = (settle: () => void) => {
      if (this.#waiting.delete(reply) && !this.#isDead) settle();
    };
    const reply: Reply = {
      resolve: (value) => end(() => resolve(value)),
      reject: (error) => end(() => reject(error)),
    };
    this.#waiting.add(reply);
    if (this.status === 'ready') this.#outbound.send(() => !this.#isDead && deliver(reply));
    // Subscriptions wait for the connection, which restores them.
    else this.once('ready', () => reply.resolve(1));
    return promise;
  }
}

export function scriptedClient(connection: RedisConnection): Redis & ScriptedRedis {
  const script =
    (name: string, keys: number) =>
    (...parameters: unknown[]) =>
      connection.call(name, keys, parameters);
  const command =
    (name: string) =>
    (...parameters: unknown[]) =>
      connection.call('Command', 0, [name, ...parameters]);
  return Object.assign(connection, {
    gatewayTake: script('take', 2),
    gatewayRenew: script('renew', 1),
    gatewayHeartbeat: script('heartbeat', 1),
    gatewayExtend: script('extend', 1),
    gatewayRelease: script('release', 1),
    set: command('SET'),
    getBuffer: command('GET'),
    pttl: command('PTTL'),
    zrem: command('ZREM'),
  }) as unknown as Redis & ScriptedRedis;
}
