import { type Command, CommandFailed } from '#core/extension/command.ts';
import { listen } from '#core/config/sections.ts';
import type { Host } from '#core/host.ts';
import { isJsonObject } from '#core/json.ts';
import type { RouteStatus } from '#core/model-call/route-status.ts';
import { resetChannel } from './reset-channel.ts';
import { storeReset } from './route-report.ts';

/** Ms within which the running gateway has to answer. */
const askTimeout = 5_000;

/** `gateway routes`: which routes are left out at the moment and why, and how to let them in again. */
export const routesCommand: Command = {
  name: 'routes',
  define(parser, context) {
    parser
      .description('list the routes of the running gateway and whether they are left out, or let one in again')
      .option('--reset <route>', 'upstream/model-there: let it in again at once with its keys, in every instance')
      .option('--url <url>', 'where the gateway listens; what gateway.yaml says when left out')
      .option('--json', 'print JSON')
      .addHelpText('after', '\n\nExit codes: 0 done, 1 failed, 2 wrong usage.')
      .action(({ reset, url, json }: { reset?: string; url?: string; json?: true }) =>
        context.withHost(async (host) => {
          if (reset !== undefined) return context.print(await resetRoute(host, reset));
          const routes = await askRoutes(url ?? listenUrl(host));
          for (const line of json ? [JSON.stringify(routes)] : routes.map(describeRoute)) context.print(line);
        }),
      );
  },
};

async function resetRoute({ catalog, database, shared, now }: Host, route: string): Promise<string> {
  const known = catalog.models.flatMap(({ routes }) => routes.map(({ id }) => id));
  if (!known.includes(route)) {
    throw new CommandFailed(`there is no route ${route}; there are: ${[...new Set(known)].join(', ')}`);
  }
  // For those that are started later. Where the store is away, the instances that hear of it store it when it is back.
  if (shared.kind === 'redis') await storeReset(shared, route, now()).catch(() => undefined);
  await database.query('SELECT pg_notify(?, ?)', [resetChannel, route]);
  return `${route} is let in again`;
}

function listenUrl(host: Host): string {
  const { host: name, port } = host.section(listen);
  const address = name === '0.0.0.0' || name === '::' ? '127.0.0.1' : name;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** @throws CommandFailed when no gateway answers */
async function askRoutes(url: string): Promise<RouteStatus[]> {
  try {
    const response = await fetch(new URL('/readyz?verbose', url), { signal: AbortSignal.timeout(askTimeout) });
    const body: unknown = await response.json();
    if (isJsonObject(body) && Array.isArray(body['routes'])) return body['routes'] as unknown as RouteStatus[];
  } catch (error) {
    throw new CommandFailed(`no gateway answers at ${url}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new CommandFailed(`what answers at ${url} says nothing about routes`);
}

function describeRoute({
  route,
  state,
  open_until: until,
  reason,
  keys_cooling_down: cooling = 0,
}: RouteStatus): string {
  const why = state === 'closed' ? [] : [`until ${until}: ${reason}`];
  if (cooling > 0) why.push(`${cooling} ${cooling === 1 ? 'key' : 'keys'} cooling down`);
  return `${route.padEnd(40)} ${state.padEnd(10)} ${why.join('; ')}`.trimEnd();
}
