import type { Command as Parser } from 'commander';
import { type OperatorResource, writeFound } from '#core/web/resources/resource.ts';
import { addActionOptions, readActionInput, resolveTimes } from './action-options.ts';
import { parseInteger, parseLine } from './arguments.ts';
import { type CommandContext, exampleText } from './command.ts';
import { zoneOf, type ZoneOptions, zoneOption } from './days.ts';
import { explainErrors } from './explain-errors.ts';
import { formatEntries, readPersons } from './field-text.ts';

interface ListOptions extends ZoneOptions {
  readonly limit: number;
  readonly json?: true;
}

interface ListNames {
  readonly verb?: string; // default: `list`
  readonly examples?: readonly string[];
  readonly exitCodes?: string;
}

/** Declares `list`, which prints a resource's entries; with `words` in its query, they are an argument of the command. */
export function addListCommand<Entry>(
  parser: Parser,
  context: CommandContext,
  resource: OperatorResource<Entry>,
  { verb = 'list', examples = [], exitCodes = '' }: ListNames = {},
): void {
  const { name, summary, view, none } = resource;
  const { words, ...others } = resource.query.properties;
  const query = { input: { ...resource.query, properties: others } };
  const isSearch = verb === 'find';
  const command = parser.command(verb).description(isSearch ? `search ${name}s; the newest come first` : summary);
  if (isSearch) command.argument('<words>', words?.description, parseLine);
  addActionOptions(command, query)
    .option('--limit <count>', `${name}s to list, 1 to 1000`, parseInteger(1, 1_000), 50)
    .option('--json', 'print JSON')
    .addOption(zoneOption())
    .addHelpText('after', exampleText(examples, exitCodes))
    .action((...given: unknown[]) =>
      explainErrors(
        context.withHost(async (host) => {
          const options = command.opts<ListOptions>();
          const timeZone = zoneOf(host, options);
          const input = await resolveTimes(host, query.input, readActionInput(query, { ...options }), timeZone);
          const asked = { ...input, ...(isSearch && { words: given[0] }) };
          const found = await resource.list(host, asked, { limit: options.limit, timeZone });
          const { entries, next, total = 0 } = found;
          if (options.json === true) return context.print(writeFound(resource, found));
          if (entries.length === 0) return context.print(none);
          const names = await readPersons(host, entries, view.text);
          const text = { timeZone, now: host.now(), names };
          for (const line of formatEntries(entries, view.text, text, { isZoneNamed: true })) context.print(line);
          if (typeof next === 'string') context.print(`\nmore: --after ${next}`);
          if (total > entries.length) context.print(`\n${total - entries.length} more: --limit ${total}`);
        }),
      ),
    );
}
