import { doubledDelay } from '#core/platform/timing/backoff.ts';

const cooldownRangeMs = { first: 60_000, longest: 3_600_000 };

/** A cooldown as sent to other instances. */
export interface CooldownStatus {
  readonly left: number; // ms; zero or negative once it is over
  /** Cooldowns since the last reset. */
  readonly times: number;
  readonly reason: string | undefined;
}

/** A pause that doubles each time until `forget`. Times are monotonic ms. */
export class Cooldown {
  #until = 0;
  #times = 0;
  #reason: string | undefined;

  get until(): number {
    return this.#until;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** True from the first cooldown until `forget`: the end of a cooldown does not prove that the route works. */
  get isRemembered(): boolean {
    return this.#times > 0;
  }

  /** @returns false during a cooldown: results of requests in flight do not extend it */
  begin(now: number, reason: string): boolean {
    if (now < this.#until) return false;
    this.#until = now + doubledDelay(cooldownRangeMs, this.#times);
    this.#times++;
    this.#reason = reason;
    return true;
  }

  status(now: number): CooldownStatus {
    return { left: this.#until - now, times: this.#times, reason: this.#reason };
  }

  /** Adopts the cooldown of another instance, for no longer than the longest own cooldown. */
  adopt({ left, times, reason }: CooldownStatus, now: number): void {
    this.#until = now + Math.min(left, cooldownRangeMs.longest);
    this.#times = times;
    this.#reason = reason;
  }

  /** @returns false if there was no cooldown */
  forget(): boolean {
    if (this.#times === 0) return false;
    this.#until = 0;
    this.#times = 0;
    return true;
  }
}
