import type { Host } from '#core/gateway/host/host.ts';
import { parseNetwork } from '#core/gateway/http/network.ts';
import { bounds } from '#core/platform/bounds.ts';
import { createGrowingCache } from '#core/platform/memory/growing-cache.ts';
import { capArrival, computeDebtUs, computeIntervalUs, computeWaitUs } from '#core/platform/shared/gcra.ts';

interface FailureLimits {
  readonly limit: number;
  readonly period: number; // seconds
}

/**
 * Counts failed authentications by network, on this instance. Successes do not count, so a caller with a valid key is not affected by
 * others at the same address. Once the table is full, the network that has gone longest without a failure is dropped.
 */
export class FailedAuthentications {
  /** Theoretical arrival times (GCRA), in µs of the clock. */
  readonly #arrivals = createGrowingCache<number>(bounds.failingNetworks);
  readonly #clock: () => number;

  /** @param clock returns monotonic ms */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  getWaitSeconds(address: string | undefined, limits: FailureLimits): number {
    return Math.max(0, this.#readState(parseNetwork(address), limits).wait / 1_000_000);
  }

  countFailure(address: string | undefined, limits: FailureLimits): void {
    const network = parseNetwork(address);
    const { now, debt, interval } = this.#readState(network, limits);
    this.#arrivals.set(network, now + debt + interval);
  }

  #readState(network: string, { limit, period }: FailureLimits) {
    const limits = { limit, period, burst: limit };
    const now = Math.round(this.#clock() * 1_000);
    const debt = computeDebtUs(capArrival(this.#arrivals.get(network) ?? 0, now, limits), now);
    return { now, debt, interval: computeIntervalUs(limits), wait: computeWaitUs(debt, limits) };
  }
}

export function getFailedAuthentications(host: Host): FailedAuthentications {
  return host.keep('failed-authentications', () => new FailedAuthentications());
}
