import { object } from '#core/platform/schema.ts';
import { defineView } from '#core/web/resources/field.ts';
import { createAfterSchema, defineResource, readPage } from '#core/web/resources/resource.ts';
import { countRequests, type DataRequest, listRequests } from './requests.ts';

export const requestsPath = '/operator/data-requests';

export const dataRequests = defineResource({
  name: 'data_request',
  summary: 'list data requests, unanswered ones first',
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
        link: ({ id, answeredAt }) => `${requestsPath}/${id}${answeredAt === undefined ? '/answer' : ''}`,
      },
      account: { type: 'person', at: 'note', of: 'accountId' },
      channel: { type: 'state', at: 'hide', of: 'channel' },
      person: { type: 'text', of: 'person' },
      text: { type: 'text', of: 'text' },
      outcome: { type: 'state', label: 'data_requests.state', of: 'outcome' },
      answer: { type: 'text', of: 'answer' },
      received: { type: 'time', at: 'hide', of: 'receivedAt' },
      due: { type: 'time', at: 'note-end', of: 'dueAt' },
      answered: { type: 'time', at: 'hide', of: 'answeredAt' },
      state: {
        type: 'state',
        at: 'end',
        kinds: { open: 'waiting', late: 'bad', done: 'ok' },
        value: determineState,
      },
    },
    ['request', 'kind', 'channel', 'account', 'received', 'due', 'state', 'answered'],
  ),
  perPage: 1_000,
  async list({ database }, { state, after }, { limit }) {
    const counts = await countRequests(database);
    const total = state === undefined ? counts.open + counts.answered : counts[state];
    const { entries, next } = await readPage(limit, (maxRows) => listRequests(database, state, maxRows, after));
    return { entries, total, next };
  },
});

function determineState({ outcome, dueAt }: DataRequest, now: number): 'open' | 'late' | 'done' | 'rejected' {
  return outcome ?? (now < dueAt.getTime() ? 'open' : 'late');
}
