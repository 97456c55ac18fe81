import type { Redis } from 'ioredis';
import type { Logger } from '../logger.ts';
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
import { redisAddress } from './redis-url.ts';
import type { Shared } from './shared.ts';

/** Ms between heartbeats, which also renew the slots of requests in flight. */
const heartbeatInterval = 5_000;

/** Makes the nodes of a client. @param onClose called when one of them answers again */
type MakeNodes = (onClose: () => void) => RedisNodes;

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

  private constructor(client: ScriptedRedis, subscriber: Redis, makeNodes: MakeNodes, log: Logger, isCluster: boolean) {
    this.#subscriber = subscriber;
    this.#nodes = makeNodes(() => this.limiter.catchUp());
    this.limiter = new RedisLimiter(client, this.#nodes);
    this.cache = new RedisCache(client, this.#nodes);
    this.groups = new RedisGroups(client, this.#nodes, isCluster);
    this.events = new RedisEvents(this.#nodes, subscriber, log);
    this.slots = new RedisSlots(client, this.#nodes, this.events);
    subscriber.on('error', () => undefined);
    this.#timer = setInterval(() => this.#beat(), heartbeatInterval);
    this.#timer.unref();
  }

  /** Waits for the first connection, or its first failure. */
  static async open(url: string, log: Logger): Promise<RedisShared> {
    const address = redisAddress(url);
    if (address.cluster === undefined) return RedisShared.over(await connectClient(url), connectSubscriber(url), log);
    const { ClusterRedis } = await import('./redis-cluster.ts');
    const client = await connectCluster(address);
    const subscriber = connectClusterSubscriber(address, client);
    const makeNodes: MakeNodes = (onClose) => new ClusterRedis(client, log, onClose);
    return RedisShared.#start(new RedisShared(client, subscriber, makeNodes, log, true));
  }

  /** The same with clients that connect already. */
  static over(client: Redis & ScriptedRedis, subscriber: Redis, log: Logger): Promise<RedisShared> {
    const makeNodes: MakeNodes = (onClose) => new SingleRedis(client, log, onClose);
    return RedisShared.#start(new RedisShared(client, subscriber, makeNodes, log, false));
  }

  static async #start(shared: RedisShared): Promise<RedisShared> {
    await shared.#nodes.start();
    return shared;
  }

  /** Writes as well, so that it fails where limits do. */
  async ping(): Promise<void> {
    await this.#nodes.beat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.limiter.releaseAll().catch(() => undefined);
    await this.#nodes.leave();
    this.#subscriber.disconnect();
    this.#nodes[Symbol.dispose]();
  }

  #beat(): void {
    this.ping().catch(() => undefined);
    this.limiter.beat();
  }
}
