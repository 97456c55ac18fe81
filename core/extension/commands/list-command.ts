import type { Command as Parser } from 'commander';
import type { Host } from '#core/gateway/host/host.ts';
import { type ListResult, type OperatorResource, getPlural, renderListJson } from '#core/web/resources/resource.ts';
import { addActionOptions, readActionInput, resolveTimes } from './action-options.ts';
import { parseInteger, parseLine } from './arguments.ts';
import { type CommandContext, exampleText } from './command.ts';
import { zoneOf, zoneOption } from './days.ts';
import { formatEntries, readAccountHandles } from './field-text.ts';
import type { OutputOptions } from './show-command.ts';
import type { TableOptions } from './table-text.ts';

const maxLimit = 1_000;

export interface ListOptions extends OutputOptions {
  readonly limit: number;
}

interface ListCommandWords {
  readonly verb?: string; // default: `list`
  readonly examples?: readonly string[];
  readonly exitCodes?: string;
  /** Entries to print without `--limit`; default: 50. */
  readonly limit?: number;
}

/** Declares `list`, which prints a resource's entries. With the verb `find`, the query's `words` become the command's argument. */
export function addListCommand<Entry>(
  parser: Parser,
  context: CommandContext,
  resource: OperatorResource<Entry>,
  { verb = 'list', examples = [], exitCodes = '', limit }: ListCommandWords = {},
): void {
  const { summary, query } = resource;
  const isSearch = verb === 'find';
  const description = isSearch ? `search ${getPlural(resource)}; the newest come first` : summary;
  const command = parser.command(verb).description(description);
  if (isSearch) command.argument('<words>', query.properties['words']?.description, parseLine);
  addListOptions(command, resource, limit)
    .addHelpText('after', exampleText(examples, exitCodes))
    .action((...args: unknown[]) =>
      context.withHost(async (host) => {
        const options = command.opts<ListOptions>();
        const filters = await readListQuery(host, resource, options);
        await printList(context, host, resource, isSearch ? { ...filters, words: args[0] } : filters, options);
      }),
    );
}

export function addListOptions<Entry>(parser: Parser, resource: OperatorResource<Entry>, limit = 50): Parser {
  return addActionOptions(parser, filtersOf(resource))
    .option('--limit <count>', `${getPlural(resource)} to list, 1 to ${maxLimit}`, parseInteger(1, maxLimit), limit)
    .option('--json', 'print JSON')
    .addOption(zoneOption());
}

export function readListQuery<Entry, Query extends object>(
  host: Host,
  resource: OperatorResource<Entry, Query>,
  options: ListOptions,
): Promise<Query> {
  const filters = filtersOf(resource);
  const typedQuery = readActionInput<Query>(filters, { ...options });
  return resolveTimes(host, filters.input, typedQuery, zoneOf(host, options));
}

function filtersOf({ query }: Pick<OperatorResource, 'query'>) {
  const { words: _words, ...properties } = query.properties;
  return { input: { ...query, properties } };
}

export async function printList<Entry, Query extends object>(
  context: Pick<CommandContext, 'print'>,
  host: Host,
  resource: OperatorResource<Entry, Query>,
  query: Query,
  output: ListOptions,
  options: TableOptions = {},
): Promise<void> {
  const listing = await resource.list(host, query, { limit: output.limit, timeZone: zoneOf(host, output) });
  await printEntries(context, host, resource, listing, output, options);
}

export async function printEntries<Entry>(
  { print }: Pick<CommandContext, 'print'>,
  host: Host,
  resource: OperatorResource<Entry>,
  listing: ListResult<Entry>,
  output: OutputOptions,
  options: TableOptions = {},
): Promise<void> {
  const { view, none } = resource;
  const { entries, next, total = 0 } = listing;
  if (output.json === true) return print(renderListJson(resource, listing));
  if (entries.length === 0) return print(none);
  const names = await readAccountHandles(host, entries, view.text);
  const text = { timeZone: zoneOf(host, output), now: host.now(), names };
  for (const line of formatEntries(entries, view.text, text, { ...options, isZoneNamed: true })) print(line);
  if (typeof next === 'string') print(`\nmore: --after ${next}`);
  if (total > entries.length)
    print(
      `\n${total - entries.length} more${entries.length < maxLimit ? `: --limit ${Math.min(total, maxLimit)}` : ''}`,
    );
}
