import type { Command as Parser } from 'commander';
import { type ActionKind, type InputSchema, partsOf } from '#core/business/operator-actions/action-kind.ts';
import { type ActionDone, commandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionWords } from '#core/business/operator-actions/operator-actions.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { addActionOptions, isTime, type OptionNames, readActionInput, resolveTimes } from './action-options.ts';
import { parseLine } from './arguments.ts';
import { type CommandContext, CommandFailed, exampleText } from './command.ts';
import { confirm } from './confirm.ts';
import { zoneOf, zoneOption } from './days.ts';
import { explainErrors } from './explain-errors.ts';
import { type CommandSubject, type Output, printOne } from './show-command.ts';

interface ActionRequest {
  readonly handle: string;
  readonly input: ActionWords;
  /** Prompt before the action; default: a confirmation below the facts of the subject. */
  readonly question?: readonly string[];
  /** Printed before the prompt, without `--json`. */
  readonly facts?: readonly string[];
}

/** Command-line form of an action, if it differs from its description. */
export interface ActionCommandWords {
  /** Default: the verb in the action's name. */
  readonly verb?: string;
  readonly summary?: string;
  /** Subject that is shown when the action is done. */
  readonly about?: CommandSubject;
  /** Operators' name for the subject's handle; default: as in `about`, otherwise its id. */
  readonly handle?: string;
  readonly isHandleOptional?: boolean;
  /** Options that replace those of the action's input. */
  readonly options?: InputSchema;
  readonly names?: OptionNames;
  /** False for a dangerous action that the command runs without a confirmation. */
  readonly asks?: boolean;
  readonly help?: string;
  readonly examples?: readonly string[];
  /** @param handle '' if left out @throws CommandFailed */
  wish?(host: Host, handle: string, options: ActionWords): ActionRequest | Promise<ActionRequest>;
  /** Printed on success if no subject is shown, without `--json`; default: all of the result. */
  done?(id: string, result: ActionWords, input: ActionWords): string;
  /** Message about the failed part of a result, which is printed anyway. */
  failure?(result: ActionWords): string | undefined;
}

const exitCodes = '\n\nExit codes: 0 success, 1 failure, 2 invalid usage, 3 not found.';

/**
 * Declares the subcommand of an action: `block <account>` for `account.block`. It asks for confirmation if the action is dangerous,
 * and prints the result, as JSON with `--json`.
 */
export function addActionCommand(
  parser: Parser,
  context: CommandContext,
  action: ActionKind,
  wording: ActionCommandWords = {},
): void {
  const { about, asks = action.isDanger === true, names, help = '', examples = [] } = wording;
  const { handle: named = about?.argument[1] ?? 'its id', isHandleOptional = false } = wording;
  const asked = { input: wording.options ?? action.input };
  const { verb = partsOf(action.name).verb } = wording;
  const command = parser.command(verb).description(wording.summary ?? action.summary);
  const hasSubject = action.subject.find !== undefined;
  const { name } = action.subject;
  if (hasSubject) command.argument(isHandleOptional ? `[${name}]` : `<${name}>`, named, parseLine);
  addActionOptions(command, asked, names).option('--json', 'print JSON');
  if (asks) command.option('--yes', 'do not ask');
  const hasTimes = Object.values(asked.input.properties).some(isTime);
  if (about !== undefined || hasTimes) command.addOption(zoneOption());
  command
    .addHelpText(
      'after',
      `\n${[about?.help ?? '', help].filter(Boolean).join('\n')}${exampleText(examples, about?.exitCodes ?? exitCodes)}`,
    )
    .action((...given: unknown[]) =>
      explainErrors(
        context.withHost(async (host) => {
          // The parser assigns options that the command above also has to that one.
          const output = command.optsWithGlobals<Output & { readonly yes?: true }>();
          const written = readActionInput<ActionWords>(asked, { ...output }, names);
          const input = hasTimes ? await resolveTimes(host, asked.input, written, zoneOf(host, output)) : written;
          const handle = hasSubject ? String(given[0] ?? '') : '';
          const wish = (await wording.wish?.(host, handle, input)) ?? { handle, input };
          if (output.json !== true) for (const line of wish.facts ?? []) context.print(line);
          if (asks && output.yes !== true) await confirm(await composeQuestion(host, action, about, wish, output));
          const print = (shown: string) => about !== undefined && printOne(context, host, about, shown, output);
          const done = await runAction(host, commandOperator(), action, wish.handle, wish.input).catch(
            async (error: unknown) => {
              // The refund is recorded despite the error.
              if (error instanceof CheckoutError && error.kind === 'not_refunded') await print(wish.handle);
              throw error;
            },
          );
          if (!(await print(done.subject.recordedAt))) printDone(context, action, wording, wish.input, done, output);
          const failure = wording.failure?.(done.result);
          if (failure !== undefined) throw new CommandFailed(failure);
        }),
      ),
    );
}

async function composeQuestion(
  host: Host,
  { name, subject, summary }: ActionKind,
  about: CommandSubject | undefined,
  { handle, question }: ActionRequest,
  output: Output,
): Promise<readonly string[]> {
  if (question !== undefined) return question;
  const details = await about?.read(host, handle);
  if (about === undefined || details === undefined) return [`${name} ${handle}: ${summary}?`];
  const verb = partsOf(name).verb.replaceAll('-', ' ');
  const asked = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} this ${subject.name}?`;
  return [...about.describe(details, zoneOf(host, output)), '', asked];
}

function printDone(
  context: CommandContext,
  { subject: kind }: ActionKind,
  wording: ActionCommandWords,
  input: ActionWords,
  { subject, result: more }: ActionDone,
  { json }: Output,
): void {
  const result = kind.find === undefined ? more : { [subject.name ?? kind.name]: subject.id, ...more };
  if (json === true) return context.print(JSON.stringify(toOperatorJson(result), null, 2));
  const members = Object.entries(result).map(([key, value]) => `, ${key}: ${String(value)}`);
  context.print(wording.done?.(subject.id, more, input) ?? `done${members.join('')}`);
}
