import type { Command as Parser } from 'commander';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { readDocument } from '#core/config/file/document.ts';
import type { Action } from '../workers/control.ts';
import type { CoreCommandContext } from './context.ts';

const descriptions: Readonly<Record<Action, string>> = {
  restart: 'replace the workers of the running gateway one after the other, with the code on disk; loses no request',
  reload: 'load gateway.yaml again in all workers of the running gateway',
  stop: 'stop the running gateway and its workers, as SIGTERM does, and wait for it',
};

/** Commands for the supervisor of `workers`; a gateway of one process has signals. */
export function defineWorkers(parser: Parser, { file, print }: CoreCommandContext): void {
  for (const [action, description] of Object.entries(descriptions))
    parser
      .command(action)
      .description(`${description} (only with \`workers\`)`)
      .action(async () => {
        const [{ readPlace }, { NoSupervisor, order }] = await Promise.all([
          import('../workers/plan.ts'),
          import('../workers/control.ts'),
        ]);
        const plan = readPlace(await readDocument(file(), process.env));
        if (plan === undefined) throw new CommandFailed(`${file()} has mistakes. Run: daypass check`);
        await order(plan.dataFolder, action as Action, print).catch((error: Error) => {
          const hint =
            error instanceof NoSupervisor ? ' One without `workers` has signals: SIGHUP reloads, SIGTERM stops.' : '';
          throw new CommandFailed(`${error.message}${hint}`);
        });
        print(`${action}: done`);
      });
}
