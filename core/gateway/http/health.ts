import type { Request, ResponseObject, ResponseToolkit, Server, ServerRoute } from '@hapi/hapi';
import { noteFailure } from '#core/platform/background.ts';
import type { HealthChecks } from '../health/health-check.ts';
import { type CheckedHealth, readHealth } from '../health/read-health.ts';
import type { StatusReport, StatusReports } from '../health/status-report.ts';
import type { Host } from '../host/host.ts';
import { version } from '#core/platform/version.ts';

export interface HealthSource {
  /** False from SIGTERM on. */
  readonly isServing: boolean;
  host(): Host;
  readonly registry: HealthChecks & StatusReports;
  /** Problems for the operator, including failing checks. Never rejects. */
  problems(): Promise<readonly object[]>;
}

const options = { state: { parse: false } } as const;

/**
 * Serves `/livez`: the process is alive. `/readyz`: it should receive traffic. Without the database or Redis the gateway stays ready,
 * because it can serve known keys. Neither returns details, because both are public.
 */
export function routeHealthChecks(server: Server, source: HealthSource): void {
  server.route(livez);
  server.route({ method: 'GET', path: '/readyz', options, handler: (_request, h) => answerVerdict(source, h) });
  // Claude Code probes this path before its first request, and accepts any 200.
  server.route({ ...livez, path: '/api/hello' });
}

/**
 * Serves the same paths to the operator. `/readyz?verbose` adds the version, health checks, all problems and plugins' reports; while a
 * check fails, the status is `degraded`, still with 200.
 */
export function operatorHealthChecks(source: HealthSource): ServerRoute[] {
  const handler = (request: Request, h: ResponseToolkit) =>
    'verbose' in request.query ? answerInDetail(source, h) : answerVerdict(source, h);
  return [livez, { method: 'GET', path: '/readyz', options, handler }];
}

const livez: ServerRoute = { method: 'GET', path: '/livez', options, handler: () => ({ status: 'ok' }) };

function answerVerdict({ isServing }: HealthSource, h: ResponseToolkit): ResponseObject {
  return h.response({ status: isServing ? 'ok' : 'stopping' }).code(isServing ? 200 : 503);
}

async function answerInDetail(source: HealthSource, h: ResponseToolkit): Promise<ResponseObject> {
  const [checks, problems] = await Promise.all([readHealth(source.registry, source.host()), source.problems()]);
  const status = source.isServing ? statusOf(checks) : 'stopping';
  return h
    .response({ status, version, checks: checks.map(toJson), problems, ...readReports(source) })
    .code(source.isServing ? 200 : 503);
}

function readReports({ registry, host }: HealthSource): Record<string, unknown> {
  return Object.fromEntries(registry.statusReports.values().map((report) => [report.name, read(report, host())]));
}

function read({ name, report }: StatusReport, host: Host): unknown {
  try {
    return report(host);
  } catch (error) {
    noteFailure(host.log, `the status report ${name}`, error);
    return { error: 'the report failed; see the log' };
  }
}

function statusOf(checks: readonly CheckedHealth[]): 'ok' | 'degraded' {
  return checks.every(({ ok }) => ok) ? 'ok' : 'degraded';
}

function toJson({ name, kind, ...verdict }: CheckedHealth): object {
  const shown = { name: kind === undefined ? name : `${name} (${kind})`, ...verdict };
  return verdict.ok ? shown : { ...shown, since: new Date(verdict.since).toISOString() };
}
