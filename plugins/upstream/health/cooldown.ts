import { doubledDelay } from '#core/timing/backoff.ts';

/** Ms. */
const range = { first: 60_000, longest: 3_600_000 };

/** What instances tell each other of a cooldown. */
export interface CooldownStatus {
  readonly until: number; // epoch ms; in the past when there is none
  /** Rests since it was forgotten. */
  readonly times: number;
  readonly reason: string | undefined;
}

/** A pause that is twice as long each time, until it is forgotten. Times are epoch ms. */
export class Cooldown {
  #until = 0;
  #times = 0;
  #reason: string | undefined;

  /** When it is over; in the past when there is none. */
  get until(): number {
    return this.#until;
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  /** @returns false when it rests already: those that were under way do not make it longer */
  begin(now: number, reason: string): boolean {
    if (now < this.#until) return false;
    this.#until = now + doubledDelay(range, this.#times);
    this.#times++;
    this.#reason = reason;
    return true;
  }

  get status(): CooldownStatus {
    return { until: this.#until, times: this.#times, reason: this.#reason };
  }

  /** Another instance has found it out. */
  adopt({ until, times, reason }: CooldownStatus): void {
    this.#until = until;
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
