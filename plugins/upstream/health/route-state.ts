import type { RouteStatus } from '#core/model-call/route-status.ts';
import { Breaker, type BreakerOptions } from './breaker.ts';
import { Cooldown } from './cooldown.ts';
import type { RouteReport } from './route-report.ts';
import { Throughput } from './throughput.ts';

/** What this instance knows of one route. Times are epoch ms. */
export class RouteState {
  readonly breaker: Breaker;
  readonly throughput = new Throughput();
  /** While the route does not have the model. */
  readonly cooldown = new Cooldown();
  /** Last change, here or in another instance; 0 before the first. See `RouteReport`. */
  changedAt = 0;
  /** It was slow when its breaker opened: a probe must then reach its end at the usual throughput. */
  isSlow = false;

  constructor(options: BreakerOptions) {
    this.breaker = new Breaker(options);
  }

  /** Notes a change that other instances have to know. */
  touch(now: number): void {
    this.changedAt = Math.max(now, this.changedAt + 1);
  }

  report(now: number): RouteReport {
    return {
      at: this.changedAt,
      breaker: this.breaker.status(now),
      cooldown: this.cooldown.status,
      throughput: this.isSlow ? this.throughput.usual : undefined,
    };
  }

  /** Takes over what another instance knows, if that is newer. */
  adopt({ at, breaker, cooldown, throughput }: RouteReport, now: number): void {
    if (at <= this.changedAt) return;
    this.changedAt = at;
    this.isSlow = throughput !== undefined;
    if (throughput !== undefined) this.throughput.adopt(throughput);
    this.cooldown.adopt(cooldown);
    if (breaker.state !== 'closed') this.breaker.adopt(breaker);
    // The counts of a closed breaker are each instance's own.
    else if (this.breaker.status(now).state !== 'closed') this.breaker.reset();
  }

  status(route: string, now: number): RouteStatus {
    const { state, opensUntil, reason = null } = this.breaker.status(now);
    if (state !== 'closed') return { route, state, open_until: new Date(opensUntil).toISOString(), reason };
    const { until, reason: lack = null } = this.cooldown.status;
    if (until <= now) return { route, state, open_until: null, reason: null };
    return { route, state: 'no_model', open_until: new Date(until).toISOString(), reason: lack };
  }
}
