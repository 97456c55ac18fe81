import type { Queries } from '#core/platform/database/database.ts';
import { epoch } from '#core/platform/database/rows.ts';
import { ownFaults } from '../facts.ts';
import { formatTimestamp } from './filter.ts';
import { startOfHour } from './usage.ts';

/** Attempts on one route by all requests. */
export interface RouteUsage {
  readonly route: string; // upstream/model
  readonly attempts: number;
  readonly served: number;
  /** Attempts that failed because of the route, not because of the client's request or the end of the exchange. */
  readonly failed: number;
  /** Failed attempts by fault, including `client`. */
  readonly faults: Readonly<Record<string, number>>;
  /** When the route last served an attempt, in epoch ms. */
  readonly lastServedAt: number | undefined;
  /** Last failure caused by the route. */
  readonly lastFault: RouteFault | undefined;
}

export interface RouteFault {
  readonly fault: string;
  readonly at: number; // epoch ms
  /** Error message without keys; null if the attempt had none. */
  readonly error: string | null;
}

interface Row {
  readonly route: string;
  readonly outcome: string | null;
  readonly fault: string | null;
  readonly attempts: number;
  readonly at: number;
  readonly error: string | null;
}

const unrelatedFaults: ReadonlySet<string> = new Set(['client', 'overflow', 'unsupported', 'gone', ...ownFaults]);

/** Counts the recorded attempts in a range of hours, ordered by route. At most the last eight attempts of a request are recorded. */
export async function readRouteUsage(
  database: Queries,
  { since, until }: { readonly since: number; readonly until?: number | undefined },
): Promise<RouteUsage[]> {
  const range = `hour >= ? ${until === undefined ? '' : 'AND hour < ?'}`;
  const parameters = [formatTimestamp(startOfHour(since)), ...(until === undefined ? [] : [formatTimestamp(until)])];
  const columns = 'route, outcome, fault, attempts, last_at, last_error';
  const rows = await database.query<Row>(
    `SELECT route, outcome, fault, sum(attempts)::float8 AS attempts,
       ${epoch('max(last_at)')} AS at, (array_agg(last_error ORDER BY last_at DESC))[1] AS error
     FROM (
       SELECT ${columns} FROM route_usage_hour WHERE ${range} UNION ALL SELECT ${columns} FROM route_usage_delta WHERE ${range}
     ) AS counted
     GROUP BY route, outcome, fault ORDER BY route, at`,
    [...parameters, ...parameters],
  );
  return [...Map.groupBy(rows, ({ route }) => route)].map(([route, routeRows]) => toUsage(route, routeRows));
}

function toUsage(route: string, rows: readonly Row[]): RouteUsage {
  const sumAttempts = (summands: readonly Row[]) => summands.reduce((total, { attempts }) => total + attempts, 0);
  const failedRows = rows.filter(({ outcome }) => outcome === 'failed');
  const routeFailures = failedRows.filter(({ fault }) => !unrelatedFaults.has(fault ?? ''));
  const servedRows = rows.filter(({ outcome }) => outcome === 'served');
  const lastFailure = routeFailures.at(-1);
  return {
    route,
    attempts: sumAttempts(rows),
    served: sumAttempts(servedRows),
    failed: sumAttempts(routeFailures),
    faults: Object.fromEntries(failedRows.map(({ fault, attempts }) => [fault ?? 'unknown', attempts])),
    lastServedAt: servedRows.at(-1)?.at,
    lastFault: lastFailure && {
      fault: lastFailure.fault ?? 'unknown',
      at: lastFailure.at,
      error: lastFailure.error,
    },
  };
}
