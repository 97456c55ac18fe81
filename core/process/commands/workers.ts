import type { Command as Parser } from 'commander';
import { readDocument } from '#core/config/file/document.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import type { Action } from '../workers/control.ts';
import type { CoreCommandContext } from './context.ts';

const descriptions = {
  restart: 'replace the workers of the running gateway one after the other, using the code on disk; no request is lost',
  stop: 'stop the running gateway and its workers, as SIGTERM does, and wait until they have stopped',
} as const satisfies Partial<Record<Action, string>>;

/** For gateways with a supervisor. One with a single process is controlled by signals. */
export function defineWorkers(parser: Parser, context: CoreCommandContext): void {
  for (const [action, description] of Object.entries(descriptions))
    parser
      .command(action)
      .description(`${description} (only with \`workers\`)`)
      .action(async () => {
        const refusal = await sendWorkerOrder(context, action as Action);
        if (refusal !== undefined)
          throw new CommandFailed(
            `${refusal} A gateway without \`workers\` takes signals: SIGHUP reloads it, SIGTERM stops it.`,
          );
      });
}

/**
 * Sends an order to the supervisor and prints its progress.
 *
 * @returns undefined when done; an error message if no supervisor is running
 * @throws CommandFailed if the action failed
 */
export async function sendWorkerOrder(
  { file, print }: CoreCommandContext,
  action: Action,
): Promise<string | undefined> {
  const [{ readWorkerPlan }, { NoSupervisor, sendOrder }] = await Promise.all([
    import('../workers/plan.ts'),
    import('../workers/control.ts'),
  ]);
  const plan = readWorkerPlan(await readDocument(file(), process.env));
  if (plan === undefined) throw new CommandFailed(`${file()} has mistakes. Run: daypass check`);
  try {
    await sendOrder(plan.dataFolder, action, print);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NoSupervisor) return message;
    throw new CommandFailed(message);
  }
  print(`${action}: done`);
  return undefined;
}
