import { getCommandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { printEntries } from '#core/extension/commands/list-command.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { listRouteIds } from '#core/gateway/model-call/route-reset.ts';
import type { RouteStatus } from '#core/gateway/model-call/route-status.ts';
import { queryOperator, OperatorUnavailable } from '#core/gateway/operator-listener/query-operator.ts';
import type { OperatorResource } from '#core/web/resources/resource.ts';
import { resetRouteAction } from './reset.ts';
import { storeReset } from './route-report.ts';
import { type ListedRoute, describeRoute } from './routes-resource.ts';

export const routesCommand = (routes: OperatorResource<ListedRoute>): Command => ({
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
      .action(({ reset, url, ...output }: { reset?: string; url?: string; json?: true }) =>
        context.withHost(async (host) => {
          if (reset !== undefined) {
            await storeResetFor(host, reset);
            await runAction(host, getCommandOperator(), resetRouteAction, reset, {});
            return context.print(`route ${reset} reset`);
          }
          const entries = await requestRoutes(host, url);
          await printEntries(context, host, routes, { entries }, output, { maxLength: Infinity });
          if (output.json !== true && entries.length > 0) for (const line of ['', ...legend]) context.print(line);
        }),
      );
    addActionCommand(parser, context, resetRouteAction, {
      handle: 'such as openai/gpt-6-sol',
      async readRequest(host, handle, input) {
        await storeResetFor(host, handle);
        return { handle, input };
      },
      done: (id) => `route ${id} reset`,
    });
  },
});

async function storeResetFor(host: Host, route: string): Promise<void> {
  const routeIds = listRouteIds(host);
  if (!routeIds.includes(route)) throw new CommandFailed(`Route "${route}" not found. Routes: ${routeIds.join(', ')}`);
  // If Redis is down, running instances remember the reset and store it later.
  if (host.shared.kind === 'redis') await storeReset(host.shared, route, host.now()).catch(() => undefined);
}

async function requestRoutes(host: Host, url: string | undefined) {
  const { routes } = await queryOperator(host, { url }).catch((error: unknown) => {
    throw error instanceof OperatorUnavailable ? new CommandFailed(error.message) : error;
  });
  if (Array.isArray(routes)) return (routes as unknown as RouteStatus[]).map(describeRoute);
  throw new CommandFailed('The gateway reports no routes. Check that its pipeline has the `upstream` stage.');
}

/** Explains "closed", which does not sound healthy. */
const legend = [
  'closed: requests are sent; open: the route is skipped until the time shown; half_open: one request tries it;',
  "no_model: the upstream does not have the model, so the model's other routes are tried first",
];
