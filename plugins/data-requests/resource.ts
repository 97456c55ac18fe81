import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import type { DataRequest } from './requests.ts';

export const requestsPath = '/operator/data-requests';

/** Lists data requests, open and most urgent first. */
export const dataRequests = defineResource({
  name: 'data_request',
  summary: 'list requests about data, those that wait for an answer first',
  query: object({
    state: { enum: ['open', 'answered'], description: 'Only requests in this state.' },
    after: createAfterSchema('request'),
  }),
  view: defineView<DataRequest>('data_requests')(
    {
      request: { type: 'id', of: 'id' },
      kind: {
        type: 'state',
        at: 'title',
        of: 'kind',
        cell: (request, { t }) => ({
          text: t(`data_requests.kind.${request.kind}`),
          path: `${requestsPath}/${request.id}${request.answeredAt === undefined ? '/answer' : ''}`,
        }),
      },
      account: { type: 'person', at: 'note', of: 'accountId' },
      channel: { type: 'state', at: 'hide', of: 'channel' },
      received: { type: 'time', at: 'hide', of: 'receivedAt' },
      due: { type: 'time', at: 'note-end', of: 'dueAt' },
      answered: { type: 'time', at: 'hide', of: 'answeredAt' },
      state: {
        type: 'state',
        at: 'end',
        value: (request, now) => determineState(request, now),
        cell(request, { t, host }) {
          const state = determineState(request, host.now());
          return { text: t(`data_requests.state.${state}`), kind: badgeKinds[state] };
        },
      },
    },
    ['request', 'kind', 'channel', 'account', 'received', 'due', 'state', 'answered'],
  ),
  perPage: 1_000,
  async list({ database }, { state, after }, { limit }) {
    const { countRequests, listRequests } = await import('./requests.ts');
    const counts = await countRequests(database);
    const total = state === undefined ? counts.open + counts.answered : counts[state];
    const { entries, next } = await readPage(limit, (maxRows) => listRequests(database, state, maxRows, after));
    return { entries, total, next };
  },
});

const badgeKinds = { open: 'waiting', late: 'bad', done: 'ok', rejected: undefined } as const;

/** Determines the displayed state at a time (epoch ms). */
function determineState({ outcome, dueAt }: DataRequest, now: number): keyof typeof badgeKinds {
  return outcome ?? (now < dueAt.getTime() ? 'open' : 'late');
}
