import { type Command as Parser, InvalidArgumentError } from 'commander';
import { parseInteger } from '#core/extension/commands/arguments.ts';
import { addShowCommand, type CommandSubject } from '#core/extension/commands/show-command.ts';
import { type Command, type CommandContext, CommandFailed } from '#core/extension/commands/command.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import { text, time } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { boolean, object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { defineResource } from '#core/web/resources/resource.ts';
import type { RequestFilter } from '#core/gateway/records/filter.ts';
import { timeOfRequestId } from '#core/gateway/records/request-id.ts';
import type { FoundRequest } from './print-requests.ts';
import {
  addSelectionOptions,
  examples,
  exitCodes,
  outcomes,
  outputOf,
  parseStatus,
  readSelection,
  type SelectionOptions,
  type StatusFilter,
  usualSpanMs,
} from './request-options.ts';

interface ListOptions extends SelectionOptions {
  readonly status?: StatusFilter;
  readonly failover?: true;
  readonly cached?: true;
  readonly limit?: number;
  readonly before?: string;
  readonly follow?: true;
}

/** Requests listed without `--limit`, and before those that `--follow` waits for. */
const usualLimits = { list: 50, follow: 10 };

const request: CommandSubject<FoundRequest> = {
  argument: ['request', 'id, from the header X-Request-Id or a list', parseRequestId],
  exitCodes,
  read: async ({ database }, id) => (await import('./print-requests.ts')).readRequest(database, id),
  write: ({ json }) => json,
  describe: ({ describe }, timeZone) => describe(timeZone),
};

/** `daypass requests …`: for the operator. Works beside a running gateway. */
export const requestsCommand: Command = {
  name: 'requests',
  define(parser, context) {
    defineList(parser, context);
    addShowCommand(parser, context, request, {
      summary: 'show all that is recorded of one request: its attempts, times, tokens and notes',
      examples: ['daypass requests show req_019a8b7c6d5e7f00112233445566778899'],
    });
  },
};

/** Requests as the API lists them; those of a day unless `since` says otherwise. */
export const requests = defineResource({
  name: 'request',
  summary: 'list requests, the newest first; without since those of the last 24 hours',
  query: object({
    account: text('Of this account: id, e-mail address, name, hint or key.'),
    model: text('Of this model, whichever name the client used.'),
    route: text('Served by this route, such as openai/gpt-6-sol.'),
    status: {
      ...text('A status such as 429 or 5xx, error, or an outcome such as refused.'),
      pattern: `^(?:error|[1-5]xx|[1-5]\\d\\d|${outcomes.join('|')})$`,
    },
    failover: boolean('Only requests that more than one route was tried for.'),
    cached: boolean('Only replies from the cache.'),
    since: time,
    // Of the years to 2527: no later time is one of a request.
    after: { ...text('Id of the last request of the page before.'), pattern: '^req_0[\\da-f]{11}7[\\da-f]{19}$' },
  }),
  // Commands draw their own table, with colours.
  view: defineView<object>()({}),
  none: 'No request found.',
  async list(host, { status, failover, cached, since, after, ...selection }, { limit, timeZone }) {
    const [{ listUpTo }, { requestToJson }] = await Promise.all([
      import('./print-requests.ts'),
      import('./describe-requests.ts'),
    ]);
    const from = since === undefined ? { ago: usualSpanMs } : { at: Date.parse(since) };
    const filter = {
      ...(await readSelection(host, { ...selection, since: from, timeZone })),
      ...(status !== undefined && parseStatus(status)),
      hasFailover: failover,
      isCached: cached,
    };
    const { records, next = null } = await listUpTo(host.database, filter, limit, after);
    return { entries: records.map(requestToJson), next };
  },
});

/** `GET /operator/api/requests/{handle}`. */
export const requestReading: OperatorReading = {
  path: '/requests/{handle}',
  summary: 'read a request with its attempts, times, tokens and notes',
  query: {},
  read: async ({ database }, id) => (await (await import('./print-requests.ts')).readRequest(database, id)).json,
};

function defineList(parser: Parser, context: CommandContext): void {
  addSelectionOptions(parser)
    .description('list requests, the newest first, follow new ones, or show one')
    .option('--status <status>', 'a status such as 429 or 5xx, error, or an outcome such as refused', parseStatus)
    .option('--failover', 'only requests that more than one route was tried for')
    .option('--cached', 'only replies from the cache')
    .option('--limit <requests>', 'requests to list, 1 to 1000; default: 50, with --follow 10', parseInteger(1, 1_000))
    .option('--before <id>', 'continue after the request with this id', parseRequestId)
    .option('--follow', 'print the newest last, then each request when it is recorded, until Ctrl-C')
    .option('--json', 'print JSON; with --follow, one object a line')
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
          const output = outputOf(context, host, options);
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

function parseRequestId(id: string): string {
  if (timeOfRequestId(id) !== undefined) return id;
  throw new InvalidArgumentError('It must be a request id: req_ and 32 hexadecimal digits.');
}
