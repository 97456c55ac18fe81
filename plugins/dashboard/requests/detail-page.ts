import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { findRequest, hasStoredContent } from '#core/gateway/records/read-requests.ts';
import { readAccountNames } from '#core/web/pages/account-name.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { accountOf, type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { describeRequestFacts } from '#core/web/requests/describe-facts.ts';
import { createRouteNames } from '../route-names.ts';
import { describeAttempts } from './describe-attempts.ts';
import { type AccountLabel, countColumns, describeRow, labelAccount } from './describe-row.ts';
import { operatorRequestsPath, requestsPath, type RequestsQuery } from './query.ts';

export const detailPages: readonly Page[] = [
  ...createDetailPages(requestsPath, 'account', describeOwn),
  ...createDetailPages(operatorRequestsPath, 'operator', describeAny),
];

function createDetailPages(path: RequestsQuery['path'], role: Page['role'], show: Page['show']): Page[] {
  const title = 'requests.detail.title';
  return [
    {
      path: `${path}/{id}`,
      role,
      title,
      template: 'dashboard/requests/detail-page.eta',
      styles: ['dashboard/requests/requests.css'],
      show,
    },
    {
      path: `${path}/{id}/row`,
      role,
      layout: 'none',
      title,
      template: 'dashboard/requests/open-row.eta',
      show,
    },
  ];
}

async function describeOwn(request: PageRequest) {
  const { params, host, isOperator } = request;
  const id = params['id'] ?? '';
  const record = await findRequest(host.database, id, accountOf(request).id);
  if (record !== undefined) return describeRequest(record, requestsPath, request);
  // An operator who follows a customer's link is sent to the operators' page.
  if (isOperator && (await findRequest(host.database, id)) !== undefined)
    return new Redirect(`${operatorRequestsPath}/${id}`);
  throw createNotFound(requestsPath);
}

async function describeAny(request: PageRequest) {
  const record = await findRequest(request.host.database, request.params['id'] ?? '');
  if (record === undefined) throw createNotFound(operatorRequestsPath);
  const names = await readAccountNames(request.host.database, [record.account_id], request.t);
  return describeRequest(record, operatorRequestsPath, request, labelAccount(record, names));
}

function createNotFound(path: RequestsQuery['path']): PageError {
  return new PageError(404, 'requests.unknown', { action: { path, label: 'requests.back' } });
}

async function describeRequest(
  record: RequestRecord,
  list: RequestsQuery['path'],
  request: PageRequest,
  account?: AccountLabel,
) {
  const { format, host, t } = request;
  const routes = createRouteNames(request);
  const { input, output, firstToken, total, ...row } = describeRow(record, request, routes, record.duration_ms ?? 0);
  const figures = Object.entries({ in: input, out: output, first: firstToken, total });
  return {
    ...row,
    list,
    path: `${list}/${record.id}`,
    account,
    day: format.day(new Date(record.started_at)).text,
    figures: figures.map(([name, value]) => ({ label: t(`requests.column.${name}`), value })),
    columns: countColumns(routes),
    attempts: describeAttempts(record, request, routes),
    without: t(`requests.without.${explainMissingAttempts(record)}`),
    facts: describeRequestFacts(record, request, {
      hasContent: await hasStoredContent(host.database, record.id),
      isForOperator: list === operatorRequestsPath,
      areRoutesNamed: routes.areNamed,
    }),
  };
}

export function explainMissingAttempts({
  cache,
  outcome,
  model,
  error_code: code,
}: Pick<RequestRecord, 'cache' | 'outcome' | 'model' | 'error_code'>):
  | 'cached'
  | 'unrouted'
  | 'refused'
  | 'interrupted'
  | 'other' {
  if (cache === 'hit') return 'cached';
  // Without a model, the request was rejected before a route was selected, for example because memory was low.
  if (code === 'unavailable' && model !== null) return 'unrouted';
  if (outcome === 'refused' || outcome === 'interrupted') return outcome;
  return model === null ? 'other' : 'refused';
}
