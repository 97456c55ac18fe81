import type { Route } from '#core/config/catalog/catalog.ts';
import type { Limits } from '#core/platform/shared/shared.ts';
import { Clock, seededRandom } from './clock.ts';
import { Figures, overshootOf } from './figures.ts';
import { Instance } from './instance.ts';
import { SimulatedRedis } from './redis-server.ts';

export interface Scale {
  readonly instances: number;
  readonly rate: number; // requests per second, over all instances
  readonly seed: number;
}

export const settledAtMs = 8_000; // all instances are running by then
const packetLoss = 0.0002; // share of packets
const greedyKeys = 20; // send far more than their limit over all instances
const greedyShare = 0.1; // of the requests
const usualRate = 0.5; // requests per second of any other key: half of its limit
const meanAnswerMs = 3_000;
const failureMs = 100;

export const limits: Limits = { limit: 60, period: 60, burst: 20, concurrent: 8 };
export const route = { id: 'upstream/model' } as Route;

export class Simulation {
  readonly clock: Clock;
  readonly redis: SimulatedRedis;
  readonly figures: Figures;
  readonly scale: Scale;
  readonly instances: Instance[] = [];
  #isFailing = false;
  readonly #breaks = new Set<() => void>(); // fail the calls waiting for the upstream
  readonly #grants = new Map<string, number[]>();
  readonly #running = new Map<string, number>();
  #mostRunning = 0;

  private constructor(clock: Clock, redis: SimulatedRedis, figures: Figures, scale: Scale) {
    this.clock = clock;
    this.redis = redis;
    this.figures = figures;
    this.scale = scale;
  }

  /** `url` is that of a Redis, which is emptied. */
  static async run<T>(url: string, scale: Scale, work: (simulation: Simulation) => Promise<T>): Promise<T> {
    const clock = new Clock();
    const figures = new Figures(() => clock.now);
    await using redis = new SimulatedRedis(url, clock, figures);
    await redis.ready();
    using _installed = clock.install(seededRandom(scale.seed));
    const simulation = new Simulation(clock, redis, figures, scale);
    const starting = Array.from({ length: scale.instances }, async (_, index) => {
      simulation.instances.push(
        await Instance.start(`instance-${index}`, { ...simulation.#world, clock, redis, figures, loss: packetLoss }),
      );
    });
    await clock.runUntil(settledAtMs);
    await Promise.all(starting);
    // Awaited, because what it uses is disposed afterwards.
    return await work(simulation);
  }

  /** The upstream's connections break within 5 ms, which fails all running calls. */
  breakUpstream(): void {
    this.#isFailing = true;
    for (const fail of this.#breaks) this.clock.after(Math.random() * 5, fail);
  }

  mendUpstream(): void {
    this.#isFailing = false;
  }

  get alive(): Instance[] {
    return this.instances.filter(({ isAlive }) => isAlive);
  }

  /** A fifth of the accounts and three operators have pages open. */
  openPages(): void {
    for (const { bus } of this.instances) bus.listen(() => this.figures.count('news'));
    for (let key = 0; key < this.#usualKeys; key += 5) this.anyInstance().bus.follow(`key-${key}`);
    for (const { bus } of this.instances.slice(0, 3)) bus.follow(undefined);
  }

  send(rate: number = this.scale.rate): void {
    const next = () => {
      this.call();
      this.clock.after((-Math.log(1 - Math.random()) / rate) * 1000, next);
    };
    next();
  }

  call(): void {
    const isGreedy = Math.random() < greedyShare;
    const keys = isGreedy ? greedyKeys : this.#usualKeys;
    const key = `${isGreedy ? 'greedy' : 'key'}-${Math.floor(Math.random() * keys)}`;
    this.figures.count('requests');
    this.anyInstance()
      .call({ key, limits, route })
      .catch(() => this.figures.count('failed calls'));
  }

  get #usualKeys(): number {
    return Math.ceil(this.scale.rate / usualRate);
  }

  anyInstance(): Instance {
    const { alive } = this;
    return alive[Math.floor(Math.random() * alive.length)] as Instance;
  }

  overshoot(): number {
    return [...this.#grants.values()].reduce((most, times) => Math.max(most, overshootOf(times, limits)), 0);
  }

  /** The most requests of one key in flight at once since the last call of this method. */
  mostRunning(): number {
    const most = this.#mostRunning;
    this.#mostRunning = 0;
    return most;
  }

  #answer(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    if (this.#isFailing) this.clock.after(failureMs, () => resolve(false));
    else {
      const fail = () => resolve(false);
      this.#breaks.add(fail);
      this.clock.after(300 - meanAnswerMs * Math.log(1 - Math.random()), () => {
        this.#breaks.delete(fail);
        resolve(true);
      });
    }
    return promise;
  }

  get #world() {
    return {
      upstream: async () => {
        const isAnswered = await this.#answer();
        this.figures.count(isAnswered ? 'answers' : 'failing calls');
        return isAnswered;
      },
      onGrant: (key: string) => {
        const running = (this.#running.get(key) ?? 0) + 1;
        this.#running.set(key, running);
        this.#mostRunning = Math.max(this.#mostRunning, running);
        const grants = this.#grants.get(key) ?? [];
        this.#grants.set(key, grants);
        grants.push(this.clock.now);
      },
      onEnd: (key: string) => void this.#running.set(key, (this.#running.get(key) ?? 1) - 1),
    };
  }
}
