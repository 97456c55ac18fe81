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

/** When all instances are running. */
export const settled = 8_000; // ms
/** Share of lost packets. */
const loss = 0.0002;
/** Keys that send far more than their limit over all instances, and the share of requests that are theirs. */
const greedyKeys = 20;
const greedyShare = 0.1;
/** Requests per second of any other key: half of its limit. */
const usualRate = 0.5;
/** Mean time until an answer ends, and until a failure, ms. */
const answer = 3_000;
const failure = 100;

export const limits: Limits = { limit: 60, period: 60, burst: 20, concurrent: 8 };
export const route = { id: 'upstream/model' } as Route;

/** A gateway of many instances, with its clients, its Redis and its upstream. */
export class Simulation {
  readonly clock: Clock;
  readonly redis: SimulatedRedis;
  readonly figures: Figures;
  readonly scale: Scale;
  readonly instances: Instance[] = [];
  /** True while the upstream responds only with errors. */
  #isFailing = false;
  /** Functions that fail the calls waiting for the upstream. */
  readonly #breaks = new Set<() => void>();
  readonly #grants = new Map<string, number[]>();
  readonly #running = new Map<string, number>();
  #mostRunning = 0;

  private constructor(clock: Clock, redis: SimulatedRedis, figures: Figures, scale: Scale) {
    this.clock = clock;
    this.redis = redis;
    this.figures = figures;
    this.scale = scale;
  }

  /**
   * Runs `work` with a simulated clock in this process until it is done.
   * @param url of a Redis, which is emptied
   */
  static async run<T>(url: string, scale: Scale, work: (simulation: Simulation) => Promise<T>): Promise<T> {
    const clock = new Clock();
    const figures = new Figures(() => clock.now);
    await using redis = new SimulatedRedis(url, clock, figures);
    await redis.ready();
    using _installed = clock.install(seededRandom(scale.seed));
    const simulation = new Simulation(clock, redis, figures, scale);
    const starting = Array.from({ length: scale.instances }, async (_, index) => {
      simulation.instances.push(
        await Instance.start(`instance-${index}`, { ...simulation.#world, clock, redis, figures, loss }),
      );
    });
    await clock.runUntil(settled);
    await Promise.all(starting);
    // Awaited, because what it uses is disposed afterwards.
    return await work(simulation);
  }

  /** From now on the upstream fails. Its connections break within 5 ms, and with them all running calls. */
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

  /** Opens pages on any instance, for a fifth of the accounts and three operators. */
  openPages(): void {
    for (const { bus } of this.instances) bus.listen(() => this.figures.count('news'));
    for (let key = 0; key < this.#usualKeys; key += 5) this.anyInstance().bus.follow(`key-${key}`);
    for (const { bus } of this.instances.slice(0, 3)) bus.follow(undefined);
  }

  /**
   * Sends requests at random times from now on.
   * @param rate per second
   */
  send(rate: number = this.scale.rate): void {
    const next = () => {
      this.call();
      this.clock.after((-Math.log(1 - Math.random()) / rate) * 1000, next);
    };
    next();
  }

  /** Sends one request with any key to any instance. */
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

  /** Returns the most requests that a key was granted above its limit, in any time span. */
  overshoot(): number {
    return [...this.#grants.values()].reduce((most, times) => Math.max(most, overshootOf(times, limits)), 0);
  }

  /** Returns the most requests of one key that were in flight at once since the last call. */
  mostRunning(): number {
    const most = this.#mostRunning;
    this.#mostRunning = 0;
    return most;
  }

  /** @returns false if the call failed */
  #answer(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    if (this.#isFailing) this.clock.after(failure, () => resolve(false));
    else {
      const fail = () => resolve(false);
      this.#breaks.add(fail);
      this.clock.after(300 - answer * Math.log(1 - Math.random()), () => {
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
