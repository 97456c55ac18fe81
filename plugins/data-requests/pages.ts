import { listActions } from '#core/business/operator-actions/operator-actions.ts';
import { plainPage } from '#core/web/actions/plain-page.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { omitEmptySections } from '#core/web/pages/table.ts';
import { describeActionTable } from '#core/web/resources/action-table.ts';
import { fieldTable } from '#core/web/resources/field.ts';
import { answerAction, recordAction } from './actions.ts';
import { type DataRequest, findRequest, isAhead, listRequests } from './requests.ts';
import { dataRequests, requestsPath as path } from './resource.ts';
import { dataRequestsSection } from './section.ts';

/** Number of requests and actions listed. */
const maxListed = 50;

/** `/operator/data-requests`: open and answered requests. */
export const requestsPage: Page = {
  path,
  role: 'operator',
  title: 'data_requests.title',
  within: '/operator/accounts',
  template: 'data-requests/list.eta',
  async show(request) {
    const { host, t, format, language } = request;
    const [openRequests, answeredRequests, actions] = await Promise.all([
      listRequests(host.database, 'open', maxListed),
      listRequests(host.database, 'answered', maxListed),
      listActions(host.database, { subject: 'data_requests', limit: maxListed }),
    ]);
    const ids = [...openRequests, ...answeredRequests].map(({ accountId }) => accountId ?? null);
    const names = await readAccountNames(host.database, ids, t);
    const table = (title: string, entries: readonly DataRequest[]) =>
      fieldTable({ host, t, format, language, names }, 'data-requests', title, entries, dataRequests.view.page);
    return {
      isOff: !host.section(dataRequestsSection).enabled,
      isEmpty: openRequests.length + answeredRequests.length === 0,
      sections: omitEmptySections([
        table('data_requests.open', openRequests),
        table('data_requests.answered_title', answeredRequests),
        describeActionTable(actions, request),
      ]),
    };
  },
};

/** `/operator/data-requests/new`: records a request that did not come through the page. */
export const recordPage: Page = plainPage(
  recordAction,
  {
    path,
    find: ({ t, host }) => ({
      id: '',
      name: '',
      path,
      question: t('operator.act.data_request.record'),
      text: t('data_requests.record_text'),
      fields: { received: { value: new Date(host.now()).toISOString() } },
    }),
  },
  {
    path: `${path}/new`,
    errors: { not_found: 'account', ambiguous: 'account', too_many: 'account', deleted: 'account' },
    check({ account, person, received }, { host }) {
      if (account === undefined && person === undefined) throw new FieldErrors({ account: 'data_requests.whose' });
      if (received !== undefined && isAhead(new Date(String(received)), host.now()))
        throw new FieldErrors({ received: 'data_requests.ahead' });
    },
  },
);

/** `/operator/data-requests/{id}/answer`: the request, and a form for its answer. */
export const answerPage: Page = plainPage(answerAction, {
  path: `${path}/{id}`,
  async find(request) {
    const { t } = request;
    const dataRequest = await requireOpenRequest(request);
    return {
      id: dataRequest.id,
      name: t(`data_requests.kind.${dataRequest.kind}`),
      path,
      text: t(`data_requests.how.${dataRequest.kind}`, { account: dataRequest.accountId ?? '' }),
      facts: await describeFacts(dataRequest, request),
    };
  },
});

/** `/operator/data-requests/{id}`: an answered request in its original words. */
export const answeredPage: Page = {
  path: `${path}/{id}`,
  role: 'operator',
  title: 'data_requests.answered',
  template: 'data-requests/answered.eta',
  styles: ['operator.css'],
  async show(request) {
    const { t, params } = request;
    const dataRequest = await findRequest(request.host.database, params['id'] ?? '');
    if (dataRequest === undefined) throw createNotFoundError('data_requests.unknown');
    if (dataRequest.answeredAt === undefined) return new Redirect(`${path}/${dataRequest.id}/answer`);
    return { kind: t(`data_requests.kind.${dataRequest.kind}`), facts: await describeFacts(dataRequest, request) };
  },
};

async function describeFacts(dataRequest: DataRequest, { t, format, host }: PageRequest) {
  const { accountId, person, text, receivedAt, dueAt, channel, answeredAt, outcome, answer } = dataRequest;
  const names = await readAccountNames(host.database, [accountId ?? null], t);
  const account = accountId && { value: names.get(accountId) ?? accountId, path: `/operator/accounts/${accountId}` };
  return [
    ...(account ? [{ name: t('data_requests.account'), ...account }] : []),
    ...(person === undefined ? [] : [{ name: t('data_requests.person'), value: person }]),
    { name: t('data_requests.channel'), value: t(`data_requests.channel.${channel}`) },
    { name: t('data_requests.received'), value: format.time(receivedAt).text },
    { name: t('data_requests.due'), value: format.time(dueAt).text },
    ...(text === undefined ? [] : [{ name: t('data_requests.text'), value: text }]),
    ...(answeredAt === undefined ? [] : [{ name: t('data_requests.answered'), value: format.time(answeredAt).text }]),
    ...(outcome === undefined ? [] : [{ name: t('data_requests.state'), value: t(`data_requests.state.${outcome}`) }]),
    ...(answer === undefined ? [] : [{ name: t('data_requests.answer'), value: answer }]),
  ];
}

/** Reads the open request of the path; throws PageError 404 if it does not exist or is already answered. */
async function requireOpenRequest({ host, params }: PageRequest): Promise<DataRequest> {
  const dataRequest = await findRequest(host.database, params['id'] ?? '');
  if (dataRequest !== undefined && dataRequest.answeredAt === undefined) return dataRequest;
  throw createNotFoundError('data_requests.gone');
}

function createNotFoundError(text: string): PageError {
  return new PageError(404, text, { action: { path, label: 'data_requests.title' } });
}
