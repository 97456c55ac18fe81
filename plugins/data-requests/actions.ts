import {
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

/*
 * Operators' actions on data requests. Their implementation is imported on use, because loading MikroORM would slow down every command.
 */

const loadRequests = () => import('./requests.ts');

const requestsSubject: SubjectKind = { name: 'data_requests' };
const requestSubject: SubjectKind = {
  name: 'data_request',
  async find({ database }, handle) {
    const request = await (await loadRequests()).findRequest(database, handle);
    if (request === undefined) throw new ActionRefused(`Request ${handle} not found.`, 'not_found');
    const { id, accountId, kind } = request;
    return { id, recordedAt: accountId ?? requestsSubject.name, detail: { request: kind } };
  },
  tells: { request: describeChoice('data_requests.kind') },
};

export const recordAction = defineAction({
  name: 'data_request.record',
  subject: requestsSubject,
  summary: 'record a request about data that came by mail, chat or otherwise',
  input: object(['kind', 'channel'], {
    kind: { enum: ['access', 'correction', 'limiting', 'deletion', 'other'], description: 'Kind of request.' },
    channel: { enum: ['mail', 'chat', 'other'], description: 'Channel by which it arrived.' },
    received: { ...time, description: 'Time of receipt, in RFC 3339; default: now. The deadline is counted from it.' },
    account: text('Account of the person, if there is one: id, email address, name or key hint.', 320),
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
  async resolve(host, input) {
    if (input.account === undefined) return input;
    const { findAccountByHandle } = await import('#core/business/accounts/account-list.ts');
    return { ...input, account: (await findAccountByHandle(host, input.account)).id };
  },
  async perform(host, _id, { kind, channel, account: accountId, person, text: requestText, received }) {
    const receivedAt = received === undefined ? undefined : new Date(received);
    const id = await (
      await loadRequests()
    ).recordRequest(host, { kind, channel, accountId, person, text: requestText, receivedAt });
    return { request: id };
  },
});

export const answerAction = defineAction({
  name: 'data_request.answer',
  subject: requestSubject,
  summary: 'answer a request about data, once; limiting that is done pauses the account',
  input: object(['outcome', 'answer'], {
    outcome: { enum: ['done', 'rejected'], description: 'Whether the request was carried out.' },
    answer: lines('Answer to the person: what was done, or why it was not.', 2_000),
    note,
  }),
  unrecorded: ['answer'],
  tells: { outcome: describeChoice('data_requests.outcome') },
  async perform(host, id, { outcome, answer }) {
    await (await loadRequests()).answerRequest(host, id, { outcome, answer });
  },
});
