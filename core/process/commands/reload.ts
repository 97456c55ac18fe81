import type { Command as Parser } from 'commander';
import type { CoreCommandContext } from './context.ts';
import { withHistory } from './history.ts';
import { sendWorkerOrder } from './workers.ts';

export const reloadName = 'reload';

/** Defines `daypass reload`: all instances reload gateway.yaml, or try another file. */
export function defineReload(parser: Parser, context: CoreCommandContext): void {
  const command = parser
    .command(reloadName)
    .description('read gateway.yaml again on all instances')
    .action(async () => {
      const options: object = command.opts();
      const hasNoArguments = command.args.length === 0 && Object.keys(options).length === 0;
      // Through the supervisor, workers report the result, and the database does not have to be reachable.
      if (hasNoArguments && (await sendWorkerOrder(context, 'reload')) === undefined) return;
      const variants = hasNoArguments ? undefined : await (await context.load()).registry.variantSource?.load();
      if (await variants?.reload(context, command.args[0], options)) return;
      await withHistory(context, async ({ history }) => {
        await history.notifyInstances();
        context.print('All running instances read gateway.yaml again.');
      });
    });
}
