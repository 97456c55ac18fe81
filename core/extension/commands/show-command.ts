import type { Command as Parser } from 'commander';
import type { Host } from '#core/gateway/host/host.ts';
import { parseLine } from './arguments.ts';
import { type CommandContext, exampleText } from './command.ts';
import { zoneOf, type ZoneOptions, zoneOption } from './days.ts';
import { explainErrors } from './explain-errors.ts';

/** Options of a command that prints human-readable text or JSON. */
export interface Output extends ZoneOptions {
  readonly json?: true;
}

/** Kind of object that a command shows: an account, an order. Loads its modules on demand. */
export interface CommandSubject<Details = unknown> {
  /** Name and description of the argument, with an optional parser. */
  readonly argument: readonly [name: string, description: string, parse?: (text: string) => string];
  /** Printed in every help text. */
  readonly help?: string;
  readonly exitCodes: string;
  /** @returns undefined if there is nothing to show @throws AccountError, CheckoutError, CommandFailed */
  read(host: Host, handle: string): Promise<Details | undefined>;
  /** Converts the details to the output of `--json`. */
  write(details: Details): object;
  describe(details: Details, timeZone: string): string[];
}

/** Declares `show`, which prints one object. */
export function addShowCommand(
  parser: Parser,
  context: CommandContext,
  subject: CommandSubject,
  { summary, examples }: { readonly summary: string; readonly examples: readonly string[] },
): void {
  const { help = '', exitCodes } = subject;
  const [name, description, parse = parseLine] = subject.argument;
  parser
    .command('show')
    .description(summary)
    .argument(`<${name}>`, description, parse)
    .option('--json', 'print JSON')
    .addOption(zoneOption())
    .addHelpText('after', `\n${help}${exampleText(examples, exitCodes)}`)
    .action(async (handle: string, _own: object, command: Parser) => {
      // The parser assigns options that the command above also has to that one.
      const output = command.optsWithGlobals<Output>();
      await explainErrors(context.withHost((host) => printOne(context, host, subject, handle, output)));
    });
}

/** @returns false if there is nothing to show */
export async function printOne(
  context: CommandContext,
  host: Host,
  subject: CommandSubject,
  handle: string,
  output: Output,
): Promise<boolean> {
  const details = await subject.read(host, handle);
  if (details === undefined) return false;
  if (output.json === true) context.print(JSON.stringify(subject.write(details), null, 2));
  else for (const line of subject.describe(details, zoneOf(host, output))) context.print(line);
  return true;
}
