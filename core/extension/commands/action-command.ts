import type { Command as Parser } from 'commander';
import { type ActionKind, type InputSchema, splitActionName } from '#core/business/operator-actions/action-kind.ts';
import { type PerformedAction, getCommandOperator, runAction } from '#core/business/operator-actions/actions.ts';
import type { ActionDetails } from '#core/business/operator-actions/operator-actions.ts';
import { CheckoutError } from '#core/business/payments/checkout-error.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { toOperatorJson } from '#core/web/resources/operator-json.ts';
import { addActionOptions, isTime, type OptionNames, readActionInput, resolveTimes } from './action-options.ts';
import { parseLine } from './arguments.ts';
import { type CommandContext, CommandFailed, exampleText } from './command.ts';
import { confirm } from './confirm.ts';
import { zoneOf, zoneOption } from './days.ts';
import { type CommandSubject, type OutputOptions, printSubject } from './show-command.ts';

interface ActionRequest {
  readonly handle: string;
  readonly input: ActionDetails;
  /** Prompt shown before the action; default: the subject's details and a question. */
  readonly question?: readonly string[];
  /** Printed before the prompt, unless `--json` is set. */
  readonly facts?: readonly string[];
}

/** Command-line presentation of an action, where it differs from the action's own description. */
export interface ActionCommandWords {
  /** Default: the verb in the action's name. */
  readonly verb?: string;
  readonly summary?: string;
  /** Subject to print after the action. */
  readonly about?: CommandSubject;
  /** Description of the handle argument; default: the description in `about`, otherwise `its id`. */
  readonly handle?: string;
  readonly isHandleOptional?: boolean;
  /** Schema of the command's options; default: the action's input. */
  readonly options?: InputSchema;
  readonly names?: OptionNames;
  /** True if the command asks for confirmation; default: only if the action is dangerous. */
  readonly needsConfirmation?: boolean;
  readonly help?: string;
  readonly examples?: readonly string[];
  /**
   * Converts the command's options to the action's input.
   *
   * @param handle '' if omitted
   * @throws CommandFailed
   */
  readRequest?(host: Host, handle: string, options: ActionDetails): ActionRequest | Promise<ActionRequest>;
  /** Composes the success message, which is printed if there is no `about` subject and no `--json`; default: all result fields. */
  done?(id: string, result: ActionDetails, input: ActionDetails): string;
  /** Describes the part of a result that failed, if any. The command prints the result, then fails with this message. */
  failure?(result: ActionDetails): string | undefined;
}

const exitCodes = '\n\nExit codes: 0 success, 1 failure, 2 invalid usage, 3 not found.';

/**
 * Declares the subcommand for an action, such as `block <account>` for `account.block`. The command asks for confirmation if the action is
 * dangerous, and prints the result (as JSON with `--json`).
 */
export function addActionCommand(
  parser: Parser,
  context: CommandContext,
  action: ActionKind,
  wording: ActionCommandWords = {},
): void {
  const { about, needsConfirmation = action.isDanger === true, names, help = '', examples = [] } = wording;
  const { handle: handleDescription = about?.argument[1] ?? 'its id', isHandleOptional = false } = wording;
  const { verb = splitActionName(action.name).verb, options: input = action.input } = wording;
  const command = parser.command(verb).description(wording.summary ?? action.summary);
  const hasSubject = action.subject.find !== undefined;
  const { name } = action.subject;
  if (hasSubject) command.argument(isHandleOptional ? `[${name}]` : `<${name}>`, handleDescription, parseLine);
  addActionOptions(command, { input }, names).option('--json', 'print JSON');
  if (needsConfirmation) command.option('--yes', 'do not ask');
  const hasTimes = Object.values(input.properties).some(isTime);
  if (about !== undefined || hasTimes) command.addOption(zoneOption());
  command
    .addHelpText(
      'after',
      `\n${[about?.help ?? '', help].filter(Boolean).join('\n')}${exampleText(examples, about?.exitCodes ?? exitCodes)}`,
    )
    .action((...args: unknown[]) => context.withHost((host) => perform(host, args)));

  async function perform(host: Host, args: readonly unknown[]): Promise<void> {
    // If the parent command declares the same option, the parser stores its value there.
    const output = command.optsWithGlobals<OutputOptions & { readonly yes?: true }>();
    const typedInput = readActionInput<ActionDetails>({ input }, { ...output }, names);
    const values = hasTimes ? await resolveTimes(host, input, typedInput, zoneOf(host, output)) : typedInput;
    const handle = hasSubject ? String(args[0] ?? '') : '';
    const request = (await wording.readRequest?.(host, handle, values)) ?? { handle, input: values };
    if (output.json !== true) for (const line of request.facts ?? []) context.print(line);
    if (needsConfirmation && output.yes !== true)
      await confirm(await composeQuestion(host, action, about, request, output));
    const printAbout = (id: string) => about !== undefined && printSubject(context, host, about, id, output);
    const done = await runAction(host, getCommandOperator(), action, request.handle, request.input).catch(
      async (error: unknown) => {
        // The refund was recorded even though paying it out failed.
        if (error instanceof CheckoutError && error.kind === 'not_refunded') await printAbout(request.handle);
        throw error;
      },
    );
    if (!(await printAbout(done.subject.recordedAt)))
      printResult(context, action, wording, request.input, done, output);
    const failure = wording.failure?.(done.result);
    if (failure !== undefined) throw new CommandFailed(failure);
  }
}

async function composeQuestion(
  host: Host,
  { name, subject, summary }: ActionKind,
  about: CommandSubject | undefined,
  { handle, question }: ActionRequest,
  output: OutputOptions,
): Promise<readonly string[]> {
  if (question !== undefined) return question;
  const details = await about?.read(host, handle);
  if (about === undefined || details === undefined) return [`${name} ${handle}: ${summary}?`];
  const verb = splitActionName(name).verb.replaceAll('-', ' ');
  const prompt = `${verb.charAt(0).toUpperCase()}${verb.slice(1)} this ${subject.name}?`;
  return [...about.describe(details, zoneOf(host, output)), '', prompt];
}

function printResult(
  context: CommandContext,
  { subject: kind }: ActionKind,
  wording: ActionCommandWords,
  input: ActionDetails,
  { subject, result }: PerformedAction,
  { json }: OutputOptions,
): void {
  const fields = kind.find === undefined ? result : { [subject.name ?? kind.name]: subject.id, ...result };
  if (json === true) return context.print(JSON.stringify(toOperatorJson(fields), null, 2));
  const members = Object.entries(fields).map(([key, value]) => `, ${key}: ${String(value)}`);
  context.print(wording.done?.(subject.id, result, input) ?? `done${members.join('')}`);
}
