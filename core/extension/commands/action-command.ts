import type { Command as Parser } from 'commander';
import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import { commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionWords } from '#core/business/operator-actions/operator-actions.ts';
import { toSnakeCase } from '#core/platform/snake-case.ts';
import { addActionOptions, readActionInput } from './action-options.ts';
import { parseLine } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { confirm } from './confirm.ts';
import { explainErrors } from './explain-errors.ts';

/** Where a command says more than its action, or prints less. */
interface ActionCommandWords {
  /** What operators name its subject by; default: its id. */
  readonly handle?: string;
  /** Prints what came of it, without `--json`; default: all of it. */
  print?(result: ActionWords, input: ActionWords): void;
}

/**
 * Declares a subcommand that follows from an action: `block <account>` for `account.block`. It asks before what is dangerous, and
 * prints what came of it, as JSON with `--json`.
 */
export function addActionCommand(
  parser: Parser,
  context: CommandContext,
  action: ActionKind,
  { handle: named = 'its id', print }: ActionCommandWords = {},
): void {
  const { name, subject, summary, isDanger = false } = action;
  const verb = name.slice(name.indexOf('.') + 1).replaceAll('_', '-');
  const command = addActionOptions(parser.command(verb).description(summary), action);
  if (subject.find !== undefined) command.argument(`<${subject.name}>`, named, parseLine);
  if (isDanger) command.option('--yes', 'do not ask');
  command
    .addHelpText('after', '\nExit codes: 0 success, 1 failure, 2 invalid usage, 3 not found.')
    .option('--json', 'print JSON')
    .action(async (...given: unknown[]) => {
      const handle = subject.find === undefined ? '' : String(given[0]);
      const options = command.opts<{ readonly yes?: true; readonly json?: true }>();
      if (isDanger && options.yes !== true) await confirm([`${name} ${handle}: ${summary}?`]);
      const input = readActionInput(action, options);
      const done = await explainErrors(
        context.withHost((host) => runAction(host, commandOperator(), action, handle, input)),
      );
      const result = subject.find === undefined ? done.result : { [subject.name]: done.subject.id, ...done.result };
      if (options.json === true) return context.print(JSON.stringify(toSnakeCase(result), null, 2));
      if (print !== undefined) return print(done.result, input);
      context.print(
        `done${Object.entries(result)
          .map(([key, value]) => `, ${key}: ${String(value)}`)
          .join('')}`,
      );
    });
}
