import { plainPage } from '#core/web/actions/plain-page.ts';
import { tablesPage } from '#core/web/actions/tables-page.ts';
import { notFound } from '#core/web/pages/page-error.ts';
import { FieldErrors, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { describeEntryFacts, withPersonNames } from '#core/web/resources/field.ts';
import { answerAction, recordAction } from './actions.ts';
import { type DataRequest, findRequest, isAhead } from './requests.ts';
import { dataRequests, requestsPath as path } from './resource.ts';
import { dataRequestsSection } from './section.ts';

const requestsLink = { path, label: 'data_requests.title' };

export const requestsPage = tablesPage({
  path,
  title: 'data_requests.title',
  back: { path: '/operator/accounts', label: 'operator.accounts' },
  none: ['data_requests.none', 'data_requests.none_text'],
  action: { path: `${path}/new`, label: 'operator.act.data_request.record' },
  resource: dataRequests,
  record: 'data_requests',
  read({ host, t }) {
    const isOff = !host.section(dataRequestsSection).enabled;
    return Promise.resolve({
      ...(isOff && { flash: { kind: 'info', title: t('data_requests.off'), text: t('data_requests.off_text') } }),
      sections: [
        { title: 'data_requests.open', query: { state: 'open' } },
        { title: 'data_requests.answered_title', query: { state: 'answered' } },
      ],
    });
  },
});

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

export const answerPage: Page = plainPage(answerAction, {
  path: `${path}/{id}`, // `plainPage` appends `/answer`
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

export const answeredPage: Page = {
  path: `${path}/{id}`,
  role: 'operator',
  title: 'data_requests.answered',
  template: 'data-requests/answered.eta',
  styles: ['operator.css'],
  async show(request) {
    const { t, params } = request;
    const found = await findRequest(request.host.database, params['id'] ?? '');
    const dataRequest = found ?? notFound('data_requests.unknown', requestsLink);
    if (dataRequest.answeredAt === undefined) return new Redirect(`${path}/${dataRequest.id}/answer`);
    return { kind: t(`data_requests.kind.${dataRequest.kind}`), facts: await describeFacts(dataRequest, request) };
  },
};

const factFields = dataRequests.view.pick(
  'account',
  'person',
  'channel',
  'received',
  'due',
  'text',
  'answered',
  'outcome',
  'answer',
);

async function describeFacts(dataRequest: DataRequest, request: PageRequest) {
  return describeEntryFacts(await withPersonNames(request, [dataRequest], factFields), dataRequest, factFields);
}

async function requireOpenRequest({ host, params }: PageRequest): Promise<DataRequest> {
  const dataRequest = await findRequest(host.database, params['id'] ?? '');
  if (dataRequest !== undefined && dataRequest.answeredAt === undefined) return dataRequest;
  return notFound('data_requests.gone', requestsLink);
}
