import type { Request, ResponseObject, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi';
import { noteFailure } from '#core/platform/background.ts';
import { version } from '#core/platform/version.ts';
import type { HealthChecks } from '../health/health-check.ts';
import { type CheckedHealth, readHealth } from '../health/read-health.ts';
import type { StatusReport, StatusReports } from '../health/status-report.ts';
import type { Host } from '../host/host.ts';

export interface HealthSource {
  readonly isServing: boolean; // false from SIGTERM on
  host(): Host;
  readonly registry: HealthChecks & StatusReports;
  problems(): Promise<readonly object[]>; // for the operator, including failing checks; never rejects
}

const options = { state: { parse: false } } as const;

/**
 * Serves `/livez`, which returns 200 while the process is alive, and `/readyz`, which returns 200 while the process should receive traffic.
 * The gateway stays ready without the database or Redis, because it can serve cached keys. Both are public and return no details.
 */
export function routeHealthChecks(server: Server, source: HealthSource): void {
  server.route(livez);
  server.route({ method: 'GET', path: '/readyz', options, handler: (_request, h) => respondBriefly(source, h) });
  // Claude Code probes this path before its first request, and accepts any 200.
  server.route({ ...livez, path: '/api/hello' });
}

/**
 * Creates the routes of these paths for the operator. `/readyz?verbose` adds the version, health checks, all problems and plugins'
 * reports. While a check fails, its status is `degraded`, but the HTTP status remains 200.
 */
export function createOperatorHealthRoutes(source: HealthSource): ServerRoute[] {
  const handler = (request: Request, h: ResponseToolkit) =>
    'verbose' in request.query ? respondInDetail(source, h) : respondBriefly(source, h);
  return [livez, { method: 'GET', path: '/readyz', options, handler }];
}

const livez: ServerRoute = { method: 'GET', path: '/livez', options, handler: () => ({ status: 'ok' }) };

function respondBriefly({ isServing }: HealthSource, h: ResponseToolkit): ResponseObject {
  return h.response({ status: isServing ? 'ok' : 'stopping' }).code(isServing ? 200 : 503);
}

async function respondInDetail(source: HealthSource, h: ResponseToolkit): Promise<ResponseObject> {
  const [checks, problems] = await Promise.all([readHealth(source.registry, source.host()), source.problems()]);
  const status = source.isServing ? summarizeStatus(checks) : 'stopping';
  return h
    .response({ status, version, checks: checks.map(describeCheck), problems, ...readReports(source) })
    .code(source.isServing ? 200 : 503);
}

function readReports({ registry, host }: HealthSource): Record<string, unknown> {
  return Object.fromEntries(registry.statusReports.values().map((report) => [report.name, readReport(report, host())]));
}

function readReport({ name, report }: StatusReport, host: Host): unknown {
  try {
    return report(host);
  } catch (error) {
    noteFailure(host.log, `the status report ${name}`, error);
    return { error: 'the report failed; see the log' };
  }
}

function summarizeStatus(checks: readonly CheckedHealth[]): 'ok' | 'degraded' {
  return checks.every(({ ok }) => ok) ? 'ok' : 'degraded';
}

function describeCheck({ name, kind, ...verdict }: CheckedHealth): object {
  const check = { name: kind === undefined ? name : `${name} (${kind})`, ...verdict };
  return verdict.ok ? check : { ...check, since: new Date(verdict.since).toISOString() };
}
