import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { zoneOf } from '#core/extension/commands/days.ts';
import {
  addListOptions,
  type ListOptions as CommonListOptions,
  printList,
  readListQuery,
} from '#core/extension/commands/list-command.ts';
import { addShowCommand, type CommandSubject } from '#core/extension/commands/show-command.ts';
import type { DescribedRequest } from './describe-request.ts';
import { createRequestFilter, type RequestQuery, requests, tableOptions, toRequestEntry } from './requests.ts';
import { formatExamples, exitCodes, parseRequestId } from './selection.ts';

interface ListOptions extends CommonListOptions {
  readonly after?: string;
  readonly before?: string;
  readonly follow?: true;
}

const defaultFollowLimit = 10;

const requestSubject = {
  argument: ['request', 'id, from the header X-Request-Id or a list', parseRequestId],
  exitCodes,
  read: async (host, id) => (await import('./describe-request.ts')).readRequest(host, id),
  toJson: ({ record }) => toRequestEntry(record),
  describe: ({ describe }, timeZone) => describe(timeZone),
} satisfies CommandSubject<DescribedRequest>;

export const requestReading: OperatorReading = {
  path: '/requests/{handle}',
  summary: 'read a request with its attempts, times, tokens and notes',
  read: async (host, id) => requestSubject.toJson(await requestSubject.read(host, id)),
};

export const requestsCommand: Command = {
  name: 'requests',
  define(parser, context) {
    addListOptions(parser, requests)
      .description('list the requests of the last 24 hours, newest first, follow new ones, or show one')
      .option('--before <id>', 'continue after the request with this id (same as --after)', parseRequestId)
      .option('--follow', 'print the newest last, then each new request as it is recorded, until Ctrl-C')
      .addHelpText(
        'after',
        `
Statuses: a number, 5xx, error (refused, failed or interrupted), answered, refused (a 4xx of the gateway or of all routes), failed,
aborted (the client disconnected), interrupted (the gateway's process ended). Requests are recorded about a second after they end.
With --json and --follow, prints one object per line, after ${defaultFollowLimit} earlier ones.${formatExamples([
          'daypass requests --status error --since 7d',
          'daypass requests --account ani@example.com --follow',
          'daypass requests --model dp/gpt-6-sol --failover --json',
          'daypass requests show req_019…',
        ])}`,
      )
      .action((options: ListOptions) => {
        const { follow: isFollowing = false, before, after = before, limit } = options;
        if (isFollowing && after !== undefined)
          throw new CommandFailed('--follow prints new requests: omit --before', 2);
        return context.withHost(async (host) => {
          const query: RequestQuery = { ...(await readListQuery(host, requests, options)), after };
          const [{ print }, timeZone, isJson] = [context, zoneOf(host, options), options.json === true];
          const filter = await createRequestFilter(host, query);
          if (isFollowing) {
            const { followRequests } = await import('./follow.ts');
            const isDefault = parser.getOptionValueSource('limit') === 'default';
            const followLimit = isDefault ? defaultFollowLimit : limit;
            return followRequests(host, filter, { print, isJson, timeZone, limit: followLimit });
          }
          await printList(context, host, requests, query, options, tableOptions);
          if (isJson || after !== undefined) return;
          const { describeUnauthenticated } = await import('./describe-unauthenticated.ts');
          for (const line of await describeUnauthenticated(host, filter, timeZone)) print(line);
        });
      });
    addShowCommand(parser, context, requestSubject, {
      summary: 'show all that is recorded of one request: its attempts, times, tokens and notes',
      examples: ['daypass requests show req_019a8b7c6d5e7f00112233445566778899'],
    });
  },
};
