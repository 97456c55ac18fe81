import { askOperator, OperatorUnavailable } from '#core/gateway/operator-listener/ask.ts';
import { formatTable, type TextCell, type TextStyle } from '#core/extension/commands/table-text.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { resetRoute, routeIdsOf } from '#core/gateway/model-call/route-reset.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { storeReset } from './route-report.ts';

/** `daypass routes`: shows the breakers of all routes, or resets one. */
export const routesCommand: Command = {
  name: 'routes',
  define(parser, context) {
    parser
      .description('list the routes of the running gateway with their breakers, or reset one')
      .option(
        '--reset <route>',
        'close the breaker of this route, such as openai/gpt-6-sol, and end the cooldowns of its keys, on every instance',
      )
      .option('--url <url>', 'URL of the operator listener (default: from gateway.yaml)')
      .option('--json', 'print JSON')
      .addHelpText('after', '\n\nExit codes: 0 success, 1 failure, 2 invalid usage.')
      .action(({ reset, url, json }: { reset?: string; url?: string; json?: true }) =>
        context.withHost(async (host) => {
          if (reset !== undefined) return context.print(await resetKnownRoute(host, reset));
          const routes = await askRoutes(host, url);
          for (const line of json ? [JSON.stringify(routes)] : describeRoutes(routes)) context.print(line);
        }),
      );
  },
};

async function resetKnownRoute(host: Host, route: string): Promise<string> {
  const known = routeIdsOf(host);
  if (!known.includes(route)) throw new CommandFailed(`Route "${route}" not found. Routes: ${known.join(', ')}`);
  // For instances that start later. While Redis is down, running instances keep the reset and store it afterwards.
  if (host.shared.kind === 'redis') await storeReset(host.shared, route, host.now()).catch(() => undefined);
  await resetRoute(host, route);
  return `route ${route} reset`;
}

async function askRoutes(host: Host, url: string | undefined): Promise<RouteStatus[]> {
  const { routes } = await askOperator(host, { url }).catch((error: unknown) => {
    throw error instanceof OperatorUnavailable ? new CommandFailed(error.message) : error;
  });
  if (Array.isArray(routes)) return routes as unknown as RouteStatus[];
  throw new CommandFailed('The gateway reports no routes. Check that its pipeline has the stage upstream.');
}

/** Explains "closed", which does not read like the healthy state. */
const legend = [
  'closed: requests are sent; open: the route is skipped until the time shown; half_open: one request tries it;',
  'no_model: the upstream does not have the model, so its other routes are asked first',
];

const styles: Readonly<Record<RouteStatus['state'], TextStyle>> = {
  closed: 'green',
  open: 'red',
  half_open: 'yellow',
  no_model: 'yellow',
};

function describeRoutes(routes: readonly RouteStatus[]): string[] {
  if (routes.length === 0) return ['No routes.'];
  return [...formatTable(['route', 'breaker', ''], routes.map(cellsOf), { longest: Infinity }), '', ...legend];
}

function cellsOf({
  route,
  state,
  open_until: until,
  reason,
  keys_cooling_down: cooling = 0,
  keys_closed: closed = 0,
}: RouteStatus): TextCell[] {
  const why = state === 'closed' ? [] : [`until ${until}: ${reason}`];
  if (closed > 0) why.push(`${closed} ${closed === 1 ? 'key' : 'keys'} closed by the vendor`);
  const others = cooling - closed;
  if (others > 0) why.push(`${others} ${others === 1 ? 'key' : 'keys'} cooling down`);
  return [route, { text: state, style: styles[state] }, why.join('; ')];
}
