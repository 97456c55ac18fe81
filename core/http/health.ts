import type { Server } from '@hapi/hapi';
import { type Check, checkDependencies } from './dependencies.ts';
import type { Host } from '../host.ts';
import type { StatusReport } from '../extension/registry.ts';
import { isLocal } from './local-caller.ts';

export interface HealthSource {
  /** False from SIGTERM on. */
  readonly isServing: boolean;
  host(): Host;
  readonly reports: Iterable<StatusReport>;
}

/**
 * `/livez`: the process is alive. `/readyz`: it should get traffic; `?verbose` adds a check of each dependency. Without
 * the database or Redis the gateway stays ready, because it serves known keys without them; the status is `degraded`
 * then, still with a 200. Callers on the same machine also get the status reports of plugins.
 */
export function routeHealthChecks(server: Server, source: HealthSource): void {
  const options = { state: { parse: false } } as const;
  server.route({ method: 'GET', path: '/livez', options, handler: () => ({ status: 'ok' }) });
  server.route({
    method: 'GET',
    path: '/readyz',
    options,
    handler: async (request, h) => {
      const isVerbose = 'verbose' in request.query;
      const checks = isVerbose ? await checkDependencies(source.host()) : undefined;
      const status = source.isServing ? statusOf(checks) : 'stopping';
      const reports = isVerbose && isLocal(request) ? readReports(source) : {};
      return h
        .response({ status, ...(checks && { checks: checks.map(toJson) }), ...reports })
        .code(source.isServing ? 200 : 503);
    },
  });
  // Claude Code probes this path before its first request; any 200 will do.
  server.route({ method: 'GET', path: '/api/hello', options, handler: () => ({ status: 'ok' }) });
}

function readReports(source: HealthSource): Record<string, unknown> {
  return Object.fromEntries([...source.reports].map(({ name, report }) => [name, report(source.host())]));
}

function statusOf(checks: readonly Check[] = []): 'ok' | 'degraded' {
  return checks.every(({ ok }) => ok) ? 'ok' : 'degraded';
}

function toJson({ name, kind, ...result }: Check): object {
  return { name: `${name} (${kind})`, ...result };
}
