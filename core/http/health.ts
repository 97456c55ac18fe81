import type { Request, Server } from '@hapi/hapi';
import type { Host } from '../host.ts';
import type { StatusReport } from '../registry.ts';

export interface HealthSource {
  /** False as soon as the gateway has been told to stop. */
  readonly isServing: boolean;
  host(): Host;
  readonly reports: Iterable<StatusReport>;
}

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly error?: string;
}

/** Ms within which a dependency has to answer before it counts as away. */
const checkTimeout = 2_000;

/**
 * `/livez`: the process answers. `/readyz`: it should get traffic; with `?verbose` also what each dependency says. A
 * database or Redis that is away does not make the gateway unready: known keys are served without them. Whoever asks
 * from the same machine also gets what plugins report.
 */
export function routeHealth(server: Server, source: HealthSource): void {
  const options = { state: { parse: false } } as const;
  server.route({ method: 'GET', path: '/livez', options, handler: () => ({ status: 'ok' }) });
  server.route({
    method: 'GET',
    path: '/readyz',
    options,
    handler: async (request, h) => {
      const status = source.isServing ? 'ok' : 'stopping';
      const isVerbose = 'verbose' in request.query;
      const checks = isVerbose ? await checkDependencies(source.host()) : undefined;
      const reports = isVerbose && isLocal(request) ? readReports(source) : {};
      return h.response({ status, ...(checks && { checks }), ...reports }).code(source.isServing ? 200 : 503);
    },
  });
  // Tools knock here before they do anything else; they only want to hear that somebody is there.
  server.route({ method: 'GET', path: '/api/hello', options, handler: () => ({ status: 'ok' }) });
}

/** True for a caller on this machine, and not behind a proxy on it: routes and their faults are nobody else's business. */
function isLocal({ info, headers }: Request): boolean {
  const isProxied = headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined;
  return !isProxied && /^(127\.|::1$|::ffff:127\.)/.test(info.remoteAddress);
}

function readReports(source: HealthSource): Record<string, unknown> {
  return Object.fromEntries([...source.reports].map(({ name, report }) => [name, report(source.host())]));
}

async function checkDependencies({ database, shared }: Host): Promise<Check[]> {
  return Promise.all([
    check(`database (${database.kind})`, database.ping()),
    check(`shared state (${shared.kind})`, shared.ping()),
  ]);
}

async function check(name: string, answer: Promise<void>): Promise<Check> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), checkTimeout);
  try {
    await Promise.race([answer, late.promise]);
    return { name, ok: true };
  } catch (error) {
    // The message of a driver may hold an address; the error's name is enough here, the log has the rest.
    return { name, ok: false, error: error instanceof Error ? error.name : 'Error' };
  } finally {
    clearTimeout(timer);
  }
}
