import { doubledDelay } from '#core/platform/timing/backoff.ts';

const rangeMs = { first: 60_000, longest: 3_600_000 };

/** A cooldown as instances report it to each other. */
export interface CooldownStatus {
  readonly left: number; // ms; not positive when it is over
  /** Cooldowns since the last reset. */
  readonly times: number;
  readonly reason: string | undefined;
}

/** A pause that doubles each time, until it is forgotten. Times are ms of a monotonic clock. */
export class Cooldown {
  #until = 0;
  #times = 0;
  #reason: string | undefined;

  /** End of the cooldown; in the past when it is over. */
  get until(): number {
    return this.#until;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** True once it has begun, until it is forgotten: its end proves nothing. */
  get isRemembered(): boolean {
    return this.#times > 0;
  }

  /** @returns false during a cooldown: results of requests in flight do not extend it */
  begin(now: number, reason: string): boolean {
    if (now < this.#until) return false;
    this.#until = now + doubledDelay(rangeMs, this.#times);
    this.#times++;
    this.#reason = reason;
    return true;
  }

  status(now: number): CooldownStatus {
    return { left: this.#until - now, times: this.#times, reason: this.#reason };
  }

  /** Takes over the cooldown of another instance, for no longer than its own would last. */
  adopt({ left, times, reason }: CooldownStatus, now: number): void {
    this.#until = now + Math.min(left, rangeMs.longest);
    this.#times = times;
    this.#reason = reason;
  }

  /** @returns false when there was nothing to forget */
  forget(): boolean {
    if (this.#times === 0) return false;
    this.#until = 0;
    this.#times = 0;
    return true;
  }
}
