import { actionCell, defineResource, defineView, object, plainPage, tablesPage } from 'daypass';
import { addAction, closeAction } from './actions.ts';
import { type ListedReport, listReports } from './reports.ts';

export const path = '/operator/reports';

export const reports = defineResource({
  name: 'report',
  summary: 'list reports about accounts, the newest first',
  query: object({ state: { enum: ['open', 'closed'], description: 'Only reports in this state.' } }),
  view: defineView<ListedReport>('reports')(
    {
      report: { type: 'id', of: 'id' },
      text: { type: 'text', fit: 'text', at: 'title', of: 'text' },
      account: { type: 'person', at: 'note', of: 'accountId' },
      created: { type: 'time', at: 'note-end', of: 'createdAt' },
      state: { type: 'state', at: 'hide', value: ({ closedAt }) => (closedAt === null ? 'open' : 'closed') },
      close: { type: 'link', at: 'end', cell: actionCell(closeAction, path) },
    },
    ['report', 'created', 'account', 'state', 'text'],
  ),
  list: async ({ database }, { state }, { limit }) => ({ entries: await listReports(database, state, limit) }),
});

export const reportsPage = tablesPage({
  path,
  title: 'reports.title',
  back: { path: '/operator/accounts', label: 'operator.accounts' },
  none: ['reports.none', 'reports.none_text'],
  resource: reports,
  form: { action: addAction, errors: { not_found: 'account', ambiguous: 'account' } },
  record: 'reports',
});

export const closePage = plainPage(closeAction, { path, label: 'reports.title' });
