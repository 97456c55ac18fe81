import type { Command as Parser } from 'commander';
import type { CoreCommandContext } from './context.ts';
import { withHistory } from './history.ts';
import { orderWorkers } from './workers.ts';

/** Name of the command; a plugin declares further options for it. */
export const reloadName = 'reload';

/** Defines `daypass reload`: all instances read gateway.yaml again, or try another file. */
export function defineReload(parser: Parser, context: CoreCommandContext): void {
  const command = parser
    .command(reloadName)
    .description('read gateway.yaml again on all instances')
    .action(async () => {
      const options: object = command.opts();
      const isPlain = command.args.length === 0 && Object.keys(options).length === 0;
      // Workers report the result, and the database need not be reachable.
      if (isPlain && (await orderWorkers(context, 'reload')) === undefined) return;
      const variants = isPlain ? undefined : await (await context.load()).registry.variantSource?.load();
      if (await variants?.reload(context, command.args[0], options)) return;
      await withHistory(context, async ({ history }) => {
        await history.notifyInstances();
        context.print('All running instances read gateway.yaml again.');
      });
    });
}
