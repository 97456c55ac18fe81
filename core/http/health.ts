import type { Server } from '@hapi/hapi';
import { type Check, checkDependencies } from './dependencies.ts';
import type { Host } from '../host.ts';
import type { StatusReport } from '../extension/registry.ts';
import { isLocal } from './local-caller.ts';

export interface HealthSource {
  /** False as soon as the gateway has been told to stop. */
  readonly isServing: boolean;
  host(): Host;
  readonly reports: Iterable<StatusReport>;
}

/**
 * `/livez`: the process answers. `/readyz`: it should get traffic; with `?verbose` also what each dependency says. A
 * database or Redis that is away does not make the gateway unready: known keys are served without them. Its status is `degraded`
 * then, with a 200 all the same. Whoever asks from the same machine also gets what plugins report.
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
        .response({ status, ...(checks && { checks: checks.map(shown) }), ...reports })
        .code(source.isServing ? 200 : 503);
    },
  });
  // Tools knock here before they do anything else; they only want to hear that somebody is there.
  server.route({ method: 'GET', path: '/api/hello', options, handler: () => ({ status: 'ok' }) });
}

function readReports(source: HealthSource): Record<string, unknown> {
  return Object.fromEntries([...source.reports].map(({ name, report }) => [name, report(source.host())]));
}

function statusOf(checks: readonly Check[] = []): 'ok' | 'degraded' {
  return checks.every(({ ok }) => ok) ? 'ok' : 'degraded';
}

function shown({ name, kind, ...result }: Check): object {
  return { name: `${name} (${kind})`, ...result };
}
