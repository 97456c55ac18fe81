import type { Redis } from 'ioredis';
import type { Route } from '#core/config/catalog/catalog.ts';
import type { Logger } from '#core/platform/logger.ts';
import { RedisShared } from '#core/platform/shared/redis.ts';
import type { Limits } from '#core/platform/shared/shared.ts';
import { LiveBus } from '#core/web/live/live-bus.ts';
import { joinFlight } from '../../plugins/cache/flight.ts';
import { LocalFallback } from '../../plugins/rate-limit/local-fallback.ts';
import { RouteHealth } from '../../plugins/upstream/health/route-health.ts';
import type { Clock } from './clock.ts';
import type { Figures } from './figures.ts';
import { RedisConnection, scriptedClient } from './redis-connection.ts';
import type { SimulatedRedis } from './redis-server.ts';

const recordIntervalMs = 1_000; // the journal finishes a segment each second
const maxClockSkewMs = 20; // between two machines

export interface Call {
  readonly key: string;
  readonly limits: Limits;
  readonly route: Route;
}

export interface World {
  readonly clock: Clock;
  readonly redis: SimulatedRedis;
  readonly figures: Figures;
  readonly loss: number; // share of lost packets
  upstream(route: Route): Promise<boolean>; // resolves after the call, to false if the upstream failed
  onGrant(key: string): void;
  onEnd(key: string): void;
}

/** One instance of the gateway: the product's limiter, breakers, cache flights and live events on a simulated network. */
export class Instance {
  readonly name: string;
  readonly shared: RedisShared;
  readonly health: RouteHealth;
  readonly bus: LiveBus;
  readonly #world: World;
  readonly #limiter: LocalFallback;
  readonly #connections: readonly RedisConnection[];
  #accounts = new Set<string>();
  isAlive = true;

  private constructor(name: string, world: World, shared: RedisShared, connections: readonly RedisConnection[]) {
    const { clock, figures } = world;
    const count = (level: string) => () => figures.count(`log ${level}`);
    const log: Logger = { info: count('info'), warn: count('warn'), error: count('error') };
    const skew = (Math.random() - 0.5) * maxClockSkewMs;
    this.name = name;
    this.shared = shared;
    this.#world = world;
    this.#connections = connections;
    this.#limiter = new LocalFallback(shared.limiter, log, () => clock.now);
    const now = () => Math.round(Date.now() + skew);
    this.health = new RouteHealth({ instance: name, shared, log, now, monotonic: () => clock.now });
    this.bus = new LiveBus({ instance: name, shared, log });
    setInterval(() => this.#writeRecords(), recordIntervalMs);
  }

  static async start(name: string, world: World): Promise<Instance> {
    // Instances must neither start nor send heartbeats in step.
    await world.clock.wait(Math.random() * 5_000);
    const { clock, redis, loss, figures } = world;
    const connections = [new RedisConnection(clock, redis, loss), new RedisConnection(clock, redis, loss)] as const;
    const [client, subscriber] = connections;
    const count = (level: string) => () => figures.count(`log ${level}`);
    const log: Logger = { info: count('info'), warn: count('warn'), error: count('error') };
    const shared = await RedisShared.fromClients(scriptedClient(client), subscriber as unknown as Redis, log);
    return new Instance(name, world, shared, connections);
  }

  die(): void {
    this.isAlive = false;
    for (const connection of this.#connections) connection.die();
  }

  async call({ key, limits, route }: Call): Promise<void> {
    const { figures, onGrant, onEnd, upstream } = this.#world;
    const take = await this.#limiter.take(key, limits);
    if (take.refusedBy !== undefined) return figures.count(`refused by ${take.refusedBy}`);
    onGrant(key);
    const requester = { account: key, conversation: key };
    const admission = await this.health.admit(route, requester);
    if (admission === undefined) figures.count('not admitted');
    else {
      figures.count(admission.isProbe ? 'probes' : 'upstream calls');
      if (await upstream(route)) {
        this.health.noteContent(route, admission, requester);
        this.health.recordSuccess(route, admission, undefined, requester);
      } else {
        const reason = 'HTTP 503';
        this.health.recordFailure(route, admission, { reason, requester, mayBeCausedByRequest: false });
      }
    }
    onEnd(key);
    if (take.lease !== undefined) this.#limiter.release(key, take.lease);
    this.#accounts.add(key);
  }

  /** @returns true if the reply was in the cache */
  async cachedCall(key: string, seconds: number, route: Route): Promise<boolean> {
    const found = await joinFlight(this.shared, key, new AbortController().signal).catch(() => undefined);
    if (found !== undefined && 'value' in found) return true;
    this.#world.figures.count('upstream calls');
    const isAnswered = await this.#world.upstream(route);
    if (found !== undefined && this.isAlive)
      await (isAnswered ? found.store(Buffer.alloc(2_000), seconds) : found.freeFollowers()).catch(() => undefined);
    return false;
  }

  #writeRecords(): void {
    if (this.#accounts.size === 0 || !this.isAlive) return;
    this.bus.publish('requests', this.#accounts);
    this.#accounts = new Set();
  }
}
