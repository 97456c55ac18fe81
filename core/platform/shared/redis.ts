import type { Redis } from 'ioredis';
import { runInBackground } from '../background.ts';
import type { Logger } from '../logger.ts';
import { Throttle } from '../timing/throttle.ts';
import { toSharedUnavailable } from './circuit.ts';
import { RedisCache } from './redis-cache.ts';
import {
  connectClient,
  connectCluster,
  connectClusterSubscriber,
  connectSubscriber,
  type ScriptedRedis,
} from './redis-client.ts';
import { RedisEvents } from './redis-events.ts';
import { RedisGroups } from './redis-groups.ts';
import { RedisLimiter } from './redis-limiter.ts';
import { type RedisNodes, SingleRedis } from './redis-nodes.ts';
import { RedisSlots } from './redis-slots.ts';
import { parseRedisUrl } from './redis-url.ts';
import type { Shared } from './shared.ts';

const heartbeatIntervalMs = 5_000; // also renews the leases of requests in flight

const proxyCheckIntervalMs = 60_000;

type CreateNodes = (onClose: () => void) => RedisNodes;

/** Shared state of a gateway with any number of processes. */
export class RedisShared implements Shared {
  readonly kind = 'redis';
  readonly limiter: RedisLimiter;
  readonly cache: RedisCache;
  readonly groups: RedisGroups;
  readonly events: RedisEvents;
  readonly slots: RedisSlots;
  readonly #subscriber: Redis;
  readonly #nodes: RedisNodes;
  readonly #timer: NodeJS.Timeout;
  readonly #log: Logger;
  #url: string | undefined;
  readonly #proxyCheckThrottle = new Throttle(proxyCheckIntervalMs);
  #proxyReason: string | undefined;

  private constructor(
    client: ScriptedRedis,
    subscriber: Redis,
    createNodes: CreateNodes,
    log: Logger,
    isCluster: boolean,
  ) {
    this.#subscriber = subscriber;
    this.#log = log;
    this.#nodes = createNodes(() => this.limiter.onRecovery());
    this.limiter = new RedisLimiter(client, this.#nodes);
    this.cache = new RedisCache(client, this.#nodes);
    this.groups = new RedisGroups(client, this.#nodes, isCluster);
    this.events = new RedisEvents(this.#nodes, subscriber, log);
    this.slots = new RedisSlots(client, this.#nodes, this.events);
    subscriber.on('error', () => undefined);
    this.#timer = setInterval(() => this.#sendHeartbeat(), heartbeatIntervalMs);
    this.#timer.unref();
  }

  /** Opens the shared state, and waits for the first connection or its first failure. */
  static async open(url: string, log: Logger): Promise<RedisShared> {
    const address = parseRedisUrl(url);
    if (address.cluster === undefined) {
      const shared = await RedisShared.fromClients(await connectClient(url), connectSubscriber(url), log);
      shared.#url = url;
      return shared;
    }
    const { ClusterRedis } = await import('./redis-cluster.ts');
    const client = await connectCluster(address);
    const subscriber = connectClusterSubscriber(address, client);
    const createNodes: CreateNodes = (onClose) => new ClusterRedis(client, log, onClose);
    return RedisShared.#start(new RedisShared(client, subscriber, createNodes, log, true));
  }

  /** Like `open`, with clients that are already connecting. */
  static fromClients(client: Redis & ScriptedRedis, subscriber: Redis, log: Logger): Promise<RedisShared> {
    const createNodes: CreateNodes = (onClose) => new SingleRedis(client, log, onClose);
    return RedisShared.#start(new RedisShared(client, subscriber, createNodes, log, false));
  }

  static async #start(shared: RedisShared): Promise<RedisShared> {
    await shared.#nodes.start();
    return shared;
  }

  /** Sends a heartbeat. It is a write, so it fails whenever the limits would. */
  async ping(): Promise<void> {
    try {
      await this.#nodes.sendHeartbeat();
      this.#proxyReason = undefined;
    } catch (error) {
      if (this.#url !== undefined && this.#proxyCheckThrottle.tryPass())
        runInBackground(this.#log, 'detecting a proxy in place of Redis', () => this.#findProxy());
      throw this.#proxyReason === undefined ? error : toSharedUnavailable(new Error(this.#proxyReason));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.events[Symbol.dispose]();
    await this.limiter.releaseAll().catch(() => undefined);
    await this.#nodes.unregister();
    this.#subscriber.disconnect();
    this.#nodes[Symbol.dispose]();
  }

  async #findProxy(): Promise<void> {
    const { findCommandProxy } = await import('./redis-proxy.ts');
    this.#proxyReason = await findCommandProxy(this.#url ?? '');
    if (this.#proxyReason !== undefined)
      this.#log.error(`Redis cannot be used: ${this.#proxyReason}; set REDIS_URL to the URL of Redis itself`);
  }

  #sendHeartbeat(): void {
    this.ping().catch(() => undefined);
    this.limiter.onHeartbeat();
  }
}
