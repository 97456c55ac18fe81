import { findActivePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { getConfiguredProvider } from '#core/business/payments/connections.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type Page, type PageRequest, accountOf } from '#core/web/pages/page.ts';
import { plansPath } from '../paths.ts';
import { describeList } from './describe-list.ts';
import { modelsPath, parseQuery, encodeQuery } from './query.ts';
import { listedDays, readModels } from './read-models.ts';

export function createModelsPage(gateway: Registry): Page {
  const describeCurrentList = async (request: PageRequest) => {
    const { host, query } = request;
    return describeList(await readModels(gateway, request), parseQuery(query), request, host.now());
  };
  return {
    path: modelsPath,
    role: 'account',
    title: 'models.title',
    navigation: { label: 'models.title', icon: 'models', order: 30 },
    template: 'dashboard/models/page.eta',
    styles: ['dashboard/models/models.css', 'tables.css'],
    scripts: ['htmx.js'],
    show: async (request) => {
      const query = parseQuery(request.query);
      const { search: _search, page: _page, ...otherParameters } = encodeQuery(query);
      return {
        path: modelsPath,
        search: query.search,
        kept: otherParameters,
        days: listedDays,
        // A search (`hold=1`) replaces the list of an open page. The event stream still has the old query, so updates are held back.
        isHeld: request.query['hold'] === '1',
        isEmpty: request.host.catalog.models.length === 0,
        noPass: await describeNoPass(request),
        ...(await describeCurrentList(request)),
      };
    },
    live: { topics: ['health'], parts: { catalog: 'dashboard/models/catalog.eta' }, values: describeCurrentList },
  };
}

export async function describeNoPass(request: PageRequest) {
  const { host, t } = request;
  if (getConfiguredProvider(host) === undefined) return undefined;
  const [account] = await readAccounts(host.database, 'id', [accountOf(request).id]);
  if (account === undefined || findActivePeriod(account, account.readAt) !== undefined) return undefined;
  return {
    kind: 'warn',
    title: t('models.no_pass'),
    text: t('models.no_pass_text'),
    action: { path: plansPath, label: t('models.choose_plan') },
  };
}
