import { inBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

/** A bearer token for requests. */
export interface Token {
  readonly value: string;
  readonly lifetime: number; // seconds from now
}

/**
 * Gets a token from a cloud.
 *
 * @throws Error with the reason, without secrets
 */
export type ReadToken = () => Promise<Token>;

interface TokenClock {
  readonly log: Logger;
  monotonic(): number; // ms
}

const deadlineMs = 10_000;
/** Ms before a token's expiry at which the next one is fetched; a quarter of its lifetime if that is less. */
const maxLeadMs = 300_000;
const retryPauseMs = 10_000;

/** The token of an upstream, renewed before it expires. At most one request for a token is in flight at a time. */
export class TokenSource {
  readonly #read: ReadToken;
  readonly #clock: TokenClock;
  #value = '';
  #validUntil = -Infinity; // ms
  #renewAt = -Infinity; // ms
  #renewing: Promise<string> | undefined;

  constructor(read: ReadToken, clock: TokenClock) {
    this.#read = read;
    this.#clock = clock;
  }

  /**
   * A valid token, or a promise if it must be fetched first.
   *
   * @throws Error if the cloud issues none
   */
  get(): string | Promise<string> {
    const now = this.#clock.monotonic();
    if (now >= this.#validUntil) return this.#renew();
    if (now >= this.#renewAt) {
      this.#renewAt = now + retryPauseMs;
      inBackground(this.#clock.log, 'renewing the token of an upstream', () => this.#renew());
    }
    return this.#value;
  }

  /** The upstream rejected this token. */
  discard(value: string): void {
    if (value === this.#value) this.#validUntil = -Infinity;
  }

  #renew(): Promise<string> {
    this.#renewing ??= this.#fetch().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #fetch(): Promise<string> {
    const requestedAt = this.#clock.monotonic();
    const { value, lifetime } = await withDeadline(this.#read(), deadlineMs, 'no token within 10 seconds');
    const ms = lifetime * 1_000;
    this.#value = value;
    this.#validUntil = requestedAt + ms;
    this.#renewAt = requestedAt + ms - Math.min(maxLeadMs, ms / 4);
    return value;
  }
}
