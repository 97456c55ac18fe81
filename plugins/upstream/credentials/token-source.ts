import { runInBackground } from '#core/platform/background.ts';
import type { Logger } from '#core/platform/logger.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

export interface Token {
  readonly value: string;
  readonly lifetimeSeconds: number; // from now
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
  now(): number; // epoch ms
}

/**
 * A point in time by both clocks, reached as soon as either passes it. The monotonic clock stops while the machine is suspended, and the
 * wall clock may be set back.
 */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const past: Moment = { monotonic: -Infinity, wall: -Infinity };

const deadlineMs = 10_000;
const maxLeadMs = 300_000; // a token is renewed this long before it expires, or a quarter of its lifetime if that is less
const retryDelayMs = 10_000;

/** Supplies an upstream's token and renews it before it expires. At most one request for a token is in flight. */
export class TokenSource {
  readonly #requestToken: ReadToken;
  readonly #clock: TokenClock;
  #value = '';
  #validUntil = past;
  #renewAt = past;
  #renewal: Promise<string> | undefined;

  constructor(requestToken: ReadToken, clock: TokenClock) {
    this.#requestToken = requestToken;
    this.#clock = clock;
  }

  /** @throws Error if the cloud issues none */
  get(): string | Promise<string> {
    if (this.#isPast(this.#validUntil)) return this.#renew();
    if (this.#isPast(this.#renewAt)) {
      this.#renewAt = later(this.#readClocks(), retryDelayMs);
      runInBackground(this.#clock.log, 'renewing the token of an upstream', () => this.#renew());
    }
    return this.#value;
  }

  discard(value: string): void {
    if (value === this.#value) this.#validUntil = past;
  }

  #renew(): Promise<string> {
    this.#renewal ??= this.#fetchToken().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #fetchToken(): Promise<string> {
    const requestedAt = this.#readClocks();
    const { value, lifetimeSeconds } = await withDeadline(
      this.#requestToken(),
      deadlineMs,
      'no token within 10 seconds',
    );
    const lifetimeMs = lifetimeSeconds * 1_000;
    this.#value = value;
    this.#validUntil = later(requestedAt, lifetimeMs);
    this.#renewAt = later(requestedAt, lifetimeMs - Math.min(maxLeadMs, lifetimeMs / 4));
    return value;
  }

  #readClocks(): Moment {
    return { monotonic: this.#clock.monotonic(), wall: this.#clock.now() };
  }

  #isPast({ monotonic, wall }: Moment): boolean {
    return this.#clock.monotonic() >= monotonic || this.#clock.now() >= wall;
  }
}

function later({ monotonic, wall }: Moment, ms: number): Moment {
  return { monotonic: monotonic + ms, wall: wall + ms };
}
