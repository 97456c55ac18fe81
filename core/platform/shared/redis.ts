import type { Redis } from 'ioredis';
import type { Logger } from '../logger.ts';
import { firstOrTimeout } from '../timing/deadline.ts';
import { Circuit } from './circuit.ts';
import { RedisCache } from './redis-cache.ts';
import { connectClient, connectSubscriber, replaceConnection, type ScriptedRedis } from './redis-client.ts';
import { RedisEvents } from './redis-events.ts';
import { RedisInstances, RedisLimiter } from './redis-limiter.ts';
import { RedisSlots } from './redis-slots.ts';
import type { Shared, GroupCache, GroupLimits } from './shared.ts';

/** Ms between heartbeats, which also renew the slots of requests in flight. */
const heartbeatInterval = 5_000;
/** Ms that a start waits for the connection to Redis, and then for answers in time. */
const startTimeout = 3_000;
const answerTimeout = 1_000;

/** Shared state of a gateway with any number of processes. */
export class RedisShared implements Shared {
  readonly kind = 'redis';
  readonly limiter: RedisLimiter;
  readonly cache: RedisCache;
  readonly groups: RedisGroups;
  readonly events: RedisEvents;
  readonly slots: RedisSlots;
  readonly #client: Redis;
  readonly #subscriber: Redis;
  readonly #circuit: Circuit;
  readonly #instances: RedisInstances;
  readonly #timer: NodeJS.Timeout;

  private constructor(client: ScriptedRedis, subscriber: Redis, log: Logger) {
    this.#client = client;
    this.#subscriber = subscriber;
    this.#instances = new RedisInstances(client);
    this.#circuit = new Circuit({
      probe: () => this.#instances.beat(),
      replaceConnection: () => replaceConnection(client),
      onClose: () => this.limiter.catchUp(),
      log,
    });
    this.limiter = new RedisLimiter(client, this.#circuit, this.#instances);
    this.cache = new RedisCache(client, this.#circuit);
    this.groups = new RedisGroups(client, this.#circuit);
    this.events = new RedisEvents(client, subscriber, this.#circuit, log);
    this.slots = new RedisSlots(client, this.#circuit, this.#instances, this.events);
    client.on('error', (error) => this.#circuit.open(error));
    client.on('close', () => this.#circuit.open(new Error('connection closed')));
    subscriber.on('error', () => undefined);
    this.#timer = setInterval(() => this.#beat(), heartbeatInterval);
    this.#timer.unref();
  }

  /** Waits for the first connection, or its first failure. */
  static async open(url: string, log: Logger): Promise<RedisShared> {
    return RedisShared.over(await connectClient(url), connectSubscriber(url), log);
  }

  /** The same with clients that connect already. */
  static async over(client: ScriptedRedis, subscriber: Redis, log: Logger): Promise<RedisShared> {
    const shared = new RedisShared(client, subscriber, log);
    await waitUntilReady(client);
    await shared.#circuit.start(client.status === 'ready' ? answerTimeout : 0);
    return shared;
  }

  /** Writes as well, so that it fails where limits do. */
  async ping(): Promise<void> {
    await this.#circuit.run(() => this.#instances.beat());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.limiter.releaseAll().catch(() => undefined);
    await this.#circuit.run(() => this.#instances.leave()).catch(() => undefined);
    this.#circuit[Symbol.dispose]();
    this.#subscriber.disconnect();
    this.#client.disconnect();
  }

  #beat(): void {
    this.ping().catch(() => undefined);
    this.limiter.beat();
  }
}

async function waitUntilReady(client: Redis): Promise<void> {
  if (client.status === 'ready') return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const finish = () => resolve();
  client.once('ready', finish).once('error', finish);
  await firstOrTimeout([promise], startTimeout);
  client.off('ready', finish).off('error', finish);
}

const keysOf = (group: string) => ['values', 'expiries', 'bytes'].map((kind) => `gw:group:${kind}:${group}`);

export class RedisGroups implements GroupCache {
  readonly #client: ScriptedRedis;
  readonly #circuit: Circuit;

  constructor(client: ScriptedRedis, circuit: Circuit) {
    this.#client = client;
    this.#circuit = circuit;
  }

  async get(group: string, names: readonly string[]): Promise<Map<string, Buffer>> {
    const [values = '', expiries = ''] = keysOf(group);
    const found = await this.#circuit.run(() => this.#client.gatewayRecallBuffer(values, expiries, ...names));
    return new Map(
      names.flatMap((name, index) => {
        const value = found[index];
        return Buffer.isBuffer(value) ? [[name, value] as const] : [];
      }),
    );
  }

  async set(group: string, entries: ReadonlyMap<string, Buffer>, limits: GroupLimits): Promise<void> {
    const { seconds, entries: mostEntries, bytes } = limits;
    const lifetime = Math.ceil(seconds * 1000);
    await this.#circuit.run(() =>
      this.#client.gatewayKeep(...keysOf(group), lifetime, mostEntries, bytes, ...[...entries].flat()),
    );
  }
}
