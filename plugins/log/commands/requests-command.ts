import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { zoneOf } from '#core/extension/commands/days.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import {
  addListOptions,
  type ListOptions as Options,
  printList,
  readListQuery,
} from '#core/extension/commands/list-command.ts';
import { addShowCommand, type CommandSubject } from '#core/extension/commands/show-command.ts';
import type { FoundRequest } from './describe-request.ts';
import { readRequestFilter, type RequestQuery, requests, tableOptions, writeRequest } from './requests.ts';
import { examples, exitCodes, parseRequestId } from './selection.ts';

interface ListOptions extends Options {
  readonly after?: string;
  readonly before?: string;
  readonly follow?: true;
}

/** Default number of earlier requests that `--follow` prints first. */
const usuallyFollowed = 10;

const request = {
  argument: ['request', 'id, from the header X-Request-Id or a list', parseRequestId],
  exitCodes,
  read: async (host, id) => (await import('./describe-request.ts')).readRequest(host, id),
  toJson: ({ record }) => writeRequest(record),
  describe: ({ describe }, timeZone) => describe(timeZone),
} satisfies CommandSubject<FoundRequest>;

/** `GET /operator/api/requests/{handle}`. */
export const requestReading: OperatorReading = {
  path: '/requests/{handle}',
  summary: 'read a request with its attempts, times, tokens and notes',
  read: async (host, id) => request.toJson(await request.read(host, id)),
};

/** `daypass requests …`: for the operator. Works next to a running gateway. */
export const requestsCommand: Command = {
  name: 'requests',
  define(parser, context) {
    addListOptions(parser, requests)
      .description('list requests, the newest first, follow new ones, or show one; those of the last 24 hours')
      .option('--before <id>', 'continue after the request with this id, as --after', parseRequestId)
      .option('--follow', 'print the newest last, then each request when it is recorded, until Ctrl-C')
      .addHelpText(
        'after',
        `
Statuses: a number, 5xx, error (refused, failed or interrupted), answered, refused (a 4xx of the gateway or of all routes), failed,
aborted (the client left), interrupted (the gateway's process ended). Requests are recorded about a second after they are over.
With --json and --follow, one object a line, after ${usuallyFollowed} earlier ones.${examples([
          'daypass requests --status error --since 7d',
          'daypass requests --account ani@example.com --follow',
          'daypass requests --model dp/gpt-6-sol --failover --json',
          'daypass requests show req_019…',
        ])}`,
      )
      .action((options: ListOptions) => {
        const { follow: isFollowed = false, before, after = before, limit } = options;
        if (isFollowed && after !== undefined)
          throw new CommandFailed('--follow prints new requests: leave --before out', 2);
        return explainErrors(
          context.withHost(async (host) => {
            const asked: RequestQuery = { ...(await readListQuery(host, requests, options)), after };
            const [{ print }, timeZone, isJson] = [context, zoneOf(host, options), options.json === true];
            const filter = await readRequestFilter(host, asked);
            if (isFollowed) {
              const { followRequests } = await import('./follow.ts');
              const isUsual = parser.getOptionValueSource('limit') === 'default';
              const most = isUsual ? usuallyFollowed : limit;
              return followRequests(host, filter, { print, isJson, timeZone, limit: most });
            }
            await printList(context, host, requests, asked, options, tableOptions);
            if (isJson || after !== undefined) return;
            const { describeUnauthenticated } = await import('./describe-unauthenticated.ts');
            for (const line of await describeUnauthenticated(host, filter, timeZone)) print(line);
          }),
        );
      });
    addShowCommand(parser, context, request, {
      summary: 'show all that is recorded of one request: its attempts, times, tokens and notes',
      examples: ['daypass requests show req_019a8b7c6d5e7f00112233445566778899'],
    });
  },
};
