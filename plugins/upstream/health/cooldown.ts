import { exponentialDelay } from '#core/platform/timing/backoff.ts';

const cooldownRangeMs = { min: 60_000, max: 3_600_000 };

export interface CooldownStatus {
  readonly left: number; // remaining ms; zero or negative once it is over
  /** How many cooldowns there were since the last reset. */
  readonly times: number;
  readonly reason: string | undefined;
}

/** A cooldown that doubles each time until `reset`. Times are monotonic ms. */
export class Cooldown {
  #until = 0;
  #times = 0;
  #reason: string | undefined;

  get until(): number {
    return this.#until;
  }

  /** True from the first cooldown until `reset`: the end of a cooldown does not prove that the route works. */
  get isUnproven(): boolean {
    return this.#times > 0;
  }

  /** @returns false if one is already running; the results of requests in flight do not extend it */
  start(now: number, reason: string): boolean {
    if (now < this.#until) return false;
    this.#until = now + exponentialDelay(cooldownRangeMs, this.#times);
    this.#times++;
    this.#reason = reason;
    return true;
  }

  getStatus(now: number): CooldownStatus {
    return { left: this.#until - now, times: this.#times, reason: this.#reason };
  }

  /** Adopts the cooldown of another instance, but with no more than the maximum cooldown. */
  adopt({ left, times, reason }: CooldownStatus, now: number): void {
    this.#until = now + Math.min(left, cooldownRangeMs.max);
    this.#times = times;
    this.#reason = reason;
  }

  /** @returns false if there was no cooldown */
  reset(): boolean {
    if (this.#times === 0) return false;
    this.#until = 0;
    this.#times = 0;
    return true;
  }
}
