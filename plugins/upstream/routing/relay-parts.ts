import type { Route } from '#core/config/catalog/catalog.ts';
import type { LimitSamples } from '#core/gateway/model-call/reported-limits.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { AttemptLimits } from '../attempt/contract.ts';
import type { QueueParts } from '../capacity/slot-request.ts';
import type { Connections } from '../connections/connections.ts';
import type { TokenSource } from '../credentials/token-source.ts';
import type { RouteHealth } from '../health/route-health.ts';
import type { RetryBudget } from './allowance.ts';
import type { FailureLog } from './failure-log.ts';
import type { KeyPool } from './key-pool.ts';
import type { RouteHeaders } from './route-headers.ts';
import type { CallSessions } from './sessions.ts';

/** Limits for routes that have none of their own. Times are seconds. */
export interface RelayOptions extends AttemptLimits {
  readonly maxAttempts: number;
  readonly connectTimeout: number;
}

export type HealthReports = Pick<
  RouteHealth,
  | 'admit'
  | 'isHealthy'
  | 'isAvailable'
  | 'noteContent'
  | 'recordSuccess'
  | 'recordFailure'
  | 'recordSetback'
  | 'recordMissingModel'
  | 'release'
  | 'msUntilAdmission'
>;

export interface RelayParts {
  readonly options: RelayOptions;
  readonly connections: Connections;
  readonly health: HealthReports;
  /** Ids of routes that are tried after the other routes of their model. */
  readonly demoted: ReadonlySet<string>;
  readonly retryBudget: RetryBudget;
  readonly log: Logger;
  readonly failureLog: FailureLog;
  /** Missing in trials. */
  readonly limitSamples?: LimitSamples | undefined;
  readonly routeHeaders: RouteHeaders;
  /** Missing in trials, which are not conversations. */
  readonly sessions?: CallSessions | undefined;
  /** Undefined if no upstream declares a capacity. */
  readonly queue?: QueueParts | undefined;
  /** Name of the header and trailer for translation notes. */
  readonly notesHeader: string;
  /** Share of traces to record, for upstreams that continue traces; default: 0. */
  readonly traceSample?: number;
  getKeyPool(route: Route): KeyPool;
  /** Missing if no upstream has cloud credentials. */
  getTokenSource?(route: Route): TokenSource;
  now(): number; // epoch ms
  monotonic(): number; // ms; for cooldowns
}
