import type { Route } from '#core/config/catalog/catalog.ts';
import type { LimitSamples } from '#core/gateway/model-call/reported-limits.ts';
import type { Logger } from '#core/platform/logger.ts';
import type { QueueParts } from '../capacity/turn.ts';
import type { Connections } from '../connections/connections.ts';
import type { TokenSource } from '../credentials/token-source.ts';
import type { KeyPool } from './key-pool.ts';
import type { FailureLog } from './failure-log.ts';
import type { RetryBudget } from './allowance.ts';
import type { RouteHealth } from '../health/route-health.ts';
import type { RouteHeaders } from './route-headers.ts';
import type { CallSessions } from './sessions.ts';

/** Default limits for routes without their own. Times are seconds. */
export interface RelayOptions {
  readonly maxAttempts: number;
  readonly connectTimeout: number;
  readonly firstByteTimeout: number;
  readonly idleTimeout: number;
  readonly progressTimeout: number;
  /** For all attempts together, until the answer starts. */
  readonly deadline: number;
}

/** A relay's interface to the health of routes. */
export type HealthReports = Pick<
  RouteHealth,
  | 'admit'
  | 'isHealthy'
  | 'isAvailable'
  | 'noteContent'
  | 'served'
  | 'failed'
  | 'setBack'
  | 'lacksModel'
  | 'released'
  | 'waitFor'
>;

/** Dependencies of every relay of a stage. */
export interface RelayParts {
  readonly options: RelayOptions;
  readonly connections: Connections;
  readonly health: HealthReports;
  /** Ids of routes tried after the others of their model. */
  readonly demoted: ReadonlySet<string>;
  readonly budget: RetryBudget;
  readonly log: Logger;
  readonly failures: FailureLog;
  /** Missing in trials. */
  readonly limits?: LimitSamples | undefined;
  readonly routeHeaders: RouteHeaders;
  /** Missing in trials, which are not conversations. */
  readonly sessions?: CallSessions | undefined;
  /** Undefined if no upstream declares a capacity. */
  readonly queue?: QueueParts | undefined;
  /** Name of the header and trailer for translation notes. */
  readonly notesHeader: string;
  /** Share of traces that are recorded, for upstreams that continue them; default: none. */
  readonly traceSample?: number;
  keys(route: Route): KeyPool;
  /** Tokens of an upstream with cloud credentials; missing if no upstream has any. */
  tokens?(route: Route): TokenSource;
  now(): number; // epoch ms
  monotonic(): number; // ms; for cooldowns
}
