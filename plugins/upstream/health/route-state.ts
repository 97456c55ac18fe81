import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { Breaker, type BreakerOptions } from './breaker.ts';
import { Cooldown } from './cooldown.ts';
import type { RouteReport } from './route-report.ts';
import { Setbacks } from './setbacks.ts';
import { Throughput } from './throughput.ts';

/** State of one route on this instance. `now` is monotonic ms, `wallTime` epoch ms. */
export class RouteState {
  readonly breaker: Breaker;
  readonly throughput = new Throughput();
  readonly setbacks = new Setbacks();
  /** Runs after the upstream has reported that it lacks the model. */
  readonly cooldown = new Cooldown();
  /** Logical time of the last change on any instance; 0 before the first. See `RouteReport.at`. */
  changedAt = 0;
  /** True if the breaker opened because the route was slow. A probe must then complete at the usual throughput. */
  isSlow = false;

  constructor(options: BreakerOptions) {
    this.breaker = new Breaker(options);
  }

  markChanged(wallTime: number): void {
    this.changedAt = Math.max(wallTime, this.changedAt + 1);
  }

  createReport(now: number): RouteReport {
    return {
      at: this.changedAt,
      breaker: this.breaker.getStatus(now),
      cooldown: this.cooldown.getStatus(now),
      throughput: this.isSlow ? this.throughput.typical : undefined,
    };
  }

  /** Adopts the report of another instance if it is newer. */
  adopt({ at, breaker, cooldown, throughput }: RouteReport, now: number): void {
    if (at <= this.changedAt) return;
    this.changedAt = at;
    this.isSlow = throughput !== undefined;
    if (throughput !== undefined) this.throughput.adopt(throughput);
    this.cooldown.adopt(cooldown, now);
    if (breaker.state !== 'closed') this.breaker.adopt(breaker, now);
    else {
      // A closed breaker's counts stay as they are, because each instance counts for itself.
      if (!this.breaker.isClosed) this.breaker.close();
      this.breaker.adoptAccounts(breaker.accounts ?? [], now);
    }
  }

  getStatus(route: string, now: number, wallTime: number): RouteStatus {
    if (this.breaker.isClosed && !this.cooldown.isUnproven)
      return { route, state: 'closed', open_until: null, reason: null };
    const { state, opensFor, openFor = 0, reason = null } = this.breaker.getStatus(now);
    const formatAfter = (ms: number) => new Date(wallTime + ms).toISOString();
    if (state !== 'closed')
      return { route, state, open_until: formatAfter(opensFor), open_since: formatAfter(-openFor), reason };
    const { left, reason: cooldownReason = null } = this.cooldown.getStatus(now);
    // After the cooldown, the route is tried as usual, but it is unproven until it serves a request.
    return { route, state: left > 0 ? 'no_model' : 'half_open', open_until: formatAfter(left), reason: cooldownReason };
  }
}
