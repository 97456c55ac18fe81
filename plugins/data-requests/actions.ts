import {
  account,
  ActionRefused,
  defineAction,
  lines,
  note,
  type SubjectKind,
  text,
  time,
} from '#core/business/operator-actions/action-kind.ts';
import { describeChoice, describeRecipient, describeSince } from '#core/business/operator-actions/member-describers.ts';
import { object } from '#core/platform/schema.ts';
import { answerRequest, findRequest, recordRequest } from './requests.ts';

const requestsSubject: SubjectKind = { name: 'data_requests' };
const requestSubject: SubjectKind = {
  name: 'data_request',
  async find({ database }, handle) {
    const request = await findRequest(database, handle);
    if (request === undefined) throw new ActionRefused(`Request ${handle} not found.`, 'not_found');
    const { id, accountId, kind } = request;
    return { id, recordedAt: accountId ?? requestsSubject.name, detail: { request: kind } };
  },
  tells: { request: describeChoice('data_requests.kind') },
};

export const recordAction = defineAction({
  name: 'data_request.record',
  subject: requestsSubject,
  summary: 'record a data request that arrived by mail, chat or another channel',
  input: object(['kind', 'channel'], {
    kind: { enum: ['access', 'correction', 'limiting', 'deletion', 'other'], description: 'Kind of request.' },
    channel: { enum: ['mail', 'chat', 'other'], description: 'How it arrived.' },
    received: {
      ...time,
      description: 'When it was received, in RFC 3339; default: now. The deadline is counted from then.',
    },
    account: account('Account of the person, if there is one: id, email address, name or key hint.'),
    person: text('Contact details of a person without an account.', 320),
    text: lines("The request in the person's own words.", 2_000),
  }),
  unrecorded: ['person', 'text'],
  tells: {
    kind: describeChoice('data_requests.kind'),
    channel: describeChoice('data_requests.channel'),
    received: describeSince,
    account: describeRecipient,
  },
  async perform(host, _id, { received, account: accountId, ...asked }) {
    const receivedAt = received === undefined ? undefined : new Date(received);
    return { request: await recordRequest(host, { ...asked, accountId, receivedAt }) };
  },
});

export const answerAction = defineAction({
  name: 'data_request.answer',
  subject: requestSubject,
  summary: 'answer a data request, once; carrying out a limiting request pauses the account',
  input: object(['outcome', 'answer'], {
    outcome: { enum: ['done', 'rejected'], description: 'Whether the request was carried out.' },
    answer: lines('Answer to the person: what was done, or why it was not.', 2_000),
    note,
  }),
  unrecorded: ['answer'],
  tells: { outcome: describeChoice('data_requests.outcome') },
  perform: (host, id, { outcome, answer }) => answerRequest(host, id, { outcome, answer }),
});
