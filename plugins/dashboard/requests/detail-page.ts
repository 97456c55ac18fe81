import { accountOf, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { viewPath } from '#core/web/pages/views.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { isContentKept } from '#core/gateway/records/read-requests.ts';
import { findRequest } from '#core/gateway/records/read-requests.ts';
import { routeNamesFor } from '../route-names.ts';
import { describeAttempts } from './describe-attempts.ts';
import { describeFacts } from './describe-facts.ts';
import { columnsOf, firstTokenOf, nameOf } from './describe-row.ts';
import { describeStatus } from './describe-status.ts';
import { requestsPath } from './query.ts';

/** One request at an address of its own, which can be bookmarked and shared. */
export const detailPage: Page = {
  path: `${requestsPath}/{id}`,
  role: 'account',
  title: 'requests.detail.title',
  template: viewPath('dashboard/requests/detail-page.eta'),
  styles: ['requests.css'],
  show: describeRequest,
};

/** The same beneath its row. */
export const openRow: Page = {
  path: `${requestsPath}/{id}/row`,
  role: 'account',
  layout: 'none',
  title: 'requests.detail.title',
  template: viewPath('dashboard/requests/open-row.eta'),
  show: describeRequest,
};

async function describeRequest(request: PageRequest) {
  const { params, format, host, t } = request;
  const record = await findRequest(host.database, params['id'] ?? '', accountOf(request).id);
  if (record === undefined)
    throw new PageError(404, 'requests.unknown', { action: { path: requestsPath, label: 'requests.back' } });
  const routes = routeNamesFor(request);
  const startedAt = new Date(record.started_at);
  return {
    id: record.id,
    path: `${requestsPath}/${record.id}`,
    name: nameOf(record),
    time: format.clock(startedAt),
    day: format.day(startedAt).text,
    zone: format.timeZone.replaceAll('_', ' '),
    status: describeStatus(record, t),
    figures: describeFigures(record, request),
    columns: columnsOf(routes),
    attempts: describeAttempts(record, request, routes),
    without: t(`requests.without.${whyWithoutAttempts(record)}`),
    facts: describeFacts(record, request, await isContentKept(host.database, record.id)),
  };
}

/** What the table has in its columns. */
function describeFigures(record: RequestRecord, { t, format }: PageRequest) {
  const first = firstTokenOf(record);
  const figures: [name: string, value: string][] = [
    ['in', record.input_tokens === null ? '—' : format.number(record.input_tokens)],
    ['out', record.output_tokens === null ? '—' : format.number(record.output_tokens)],
    ['first', first === undefined ? '—' : format.duration(first).text],
    ['total', record.duration_ms === null ? '—' : format.duration(record.duration_ms).text],
  ];
  return figures.map(([name, value]) => ({ label: t(`requests.column.${name}`), value }));
}

/** Why no route was tried. */
function whyWithoutAttempts({ cache, outcome, model }: RequestRecord): 'cached' | 'refused' | 'interrupted' | 'other' {
  if (cache === 'hit') return 'cached';
  if (outcome === 'refused' || outcome === 'interrupted') return outcome;
  return model === null ? 'other' : 'refused';
}
