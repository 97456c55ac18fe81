import type { Command as Parser } from 'commander';
import type { Host } from '#core/gateway/host/host.ts';
import { parseLine } from './arguments.ts';
import { type CommandContext, exampleText } from './command.ts';
import { zoneOf, type ZoneOptions, zoneOption } from './days.ts';

export interface OutputOptions extends ZoneOptions {
  readonly json?: true;
}

/** A kind of object that a command shows, such as an account or an order. Its modules are loaded on demand. */
export interface CommandSubject<Details = unknown> {
  /** Name and description of the argument, and optionally its parser. */
  readonly argument: readonly [name: string, description: string, parse?: (text: string) => string];
  /** Added to the help text of every command about the object. */
  readonly help?: string;
  readonly exitCodes: string;
  /**
   * Reads the object's details; undefined if there is nothing to show.
   *
   * @throws AccountError, CheckoutError, CommandFailed
   */
  read(host: Host, handle: string): Promise<Details | undefined>;
  /** Returns the value that `--json` prints. */
  toJson(details: Details): object;
  describe(details: Details, timeZone: string): string[];
}

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
    .action(async (handle: string, _options: object, command: Parser) => {
      // If the parent command declares the same option, the parser stores its value there.
      const output = command.optsWithGlobals<OutputOptions>();
      await context.withHost((host) => printSubject(context, host, subject, handle, output));
    });
}

/** Prints an object; returns false if there is nothing to show. */
export async function printSubject(
  context: CommandContext,
  host: Host,
  subject: CommandSubject,
  handle: string,
  output: OutputOptions,
): Promise<boolean> {
  const details = await subject.read(host, handle);
  if (details === undefined) return false;
  if (output.json === true) context.print(JSON.stringify(subject.toJson(details), null, 2));
  else for (const line of subject.describe(details, zoneOf(host, output))) context.print(line);
  return true;
}
