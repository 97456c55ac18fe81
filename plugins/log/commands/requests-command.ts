import { type Command as Parser, InvalidArgumentError } from 'commander';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { timeOfRequestId } from '#core/gateway/records/request-id.ts';
import {
  accountOption,
  examples,
  parseStatus,
  readSelection,
  type SelectionOptions,
  sinceOption,
  type StatusFilter,
} from './request-options.ts';

interface ListOptions extends SelectionOptions {
  readonly status?: StatusFilter;
  readonly failover?: true;
  readonly cached?: true;
  readonly limit?: number;
  readonly before?: string;
  readonly follow?: true;
  readonly json?: true;
}

/** Requests listed without `--limit`, and before those that `--follow` waits for. */
const usualLimits = { list: 50, follow: 10 };

/** `daypass requests …`: for the operator. Works beside a running gateway. */
export const requestsCommand: Command = {
  name: 'requests',
  define(parser, context) {
    defineList(parser, context);
    defineShow(parser, context);
  },
};

function defineList(parser: Parser, context: CommandContext): void {
  parser
    .description('list requests, the newest first, follow new ones, or show one')
    .addOption(accountOption())
    .option('--model <model>', 'of this model, whichever name the client used', parseLine)
    .option('--route <route>', 'served by this route, such as openai/gpt-6-sol', parseLine)
    .option('--status <status>', 'a status such as 429 or 5xx, error, or an outcome such as refused', parseStatus)
    .option('--failover', 'only requests that more than one route was tried for')
    .option('--cached', 'only replies from the cache')
    .addOption(sinceOption())
    .option('--limit <requests>', 'requests to list, 1 to 1000; default: 50, with --follow 10', parseInteger(1, 1_000))
    .option('--before <id>', 'continue after the request with this id', parseRequestId)
    .option('--follow', 'print the newest last, then each request when it is recorded, until Ctrl-C')
    .option('--json', 'print JSON; with --follow, one object a line')
    .addOption(zoneOption())
    .addHelpText(
      'after',
      `
Statuses: a number, 5xx, error (refused, failed or interrupted), answered, refused (a 4xx of the gateway or of all routes), failed,
aborted (the client left), interrupted (the gateway's process ended). Requests are recorded about a second after they are over.${examples(
        [
          'daypass requests --status error --since 7d',
          'daypass requests --account ani@example.com --follow',
          'daypass requests --model dp/gpt-6-sol --failover --json',
          'daypass requests show req_019…',
        ],
      )}`,
    )
    .action((options: ListOptions) => {
      if (options.follow === true && options.before !== undefined)
        throw new CommandFailed('--follow prints new requests: leave --before out', 2);
      return explainErrors(
        context.withHost(async (host) => {
          const filter: RequestFilter = {
            ...(await readSelection(host, options)),
            ...options.status,
            hasFailover: options.failover,
            isCached: options.cached,
          };
          const output = { print: context.print, isJson: options.json === true, timeZone: zoneOf(host, options) };
          if (options.follow === true) {
            const { followRequests } = await import('./follow.ts');
            return followRequests(host, filter, { ...output, limit: options.limit ?? usualLimits.follow });
          }
          const { printRequests } = await import('./print-requests.ts');
          return printRequests(host, filter, {
            ...output,
            limit: options.limit ?? usualLimits.list,
            before: options.before,
          });
        }),
      );
    });
}

function defineShow(parser: Parser, context: CommandContext): void {
  parser
    .command('show')
    .description('show all that is recorded of one request: its attempts, times, tokens and notes')
    .argument('<request>', 'id, from the header X-Request-Id or a list', parseRequestId)
    .option('--json', 'print JSON')
    .addOption(zoneOption())
    .addHelpText('after', examples(['daypass requests show req_019a8b7c6d5e7f00112233445566778899']))
    .action((id: string, _own: object, command: Parser) =>
      explainErrors(
        context.withHost(async (host) => {
          // The parser assigns options that `requests` also has to `requests`.
          const options = command.optsWithGlobals<{ json?: true; timeZone?: string }>();
          const { printRequest } = await import('./print-requests.ts');
          await printRequest(host, id, {
            print: context.print,
            isJson: options.json === true,
            timeZone: zoneOf(host, options),
          });
        }),
      ),
    );
}

function parseRequestId(text: string): string {
  if (timeOfRequestId(text) !== undefined) return text;
  throw new InvalidArgumentError('It must be a request id: req_ and 32 hexadecimal digits.');
}
