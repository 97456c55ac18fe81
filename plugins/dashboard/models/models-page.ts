import type { Server } from '@hapi/hapi';
import { modelsWithoutBackup } from '#core/config/catalog/backups.ts';
import { readAbilities } from '#core/config/catalog/abilities.ts';
import { readModelHealth } from '#core/business/model-health/model-health.ts';
import { accountOf, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { plansPath, tryPath } from '../paths.ts';
import { routeNamesFor } from '../route-names.ts';
import { describeDetail, describeRow, type ModelReading, speaksOf } from './describe-model.ts';
import { addressOf, matches, modelsPath, readQuery } from './query.ts';
import { activePeriod, readAccounts } from '#core/business/accounts/account-record.ts';
import { configuredProvider } from '#core/business/payments/connections.ts';

/** Models of one answer; a search finds the others. */
const listedModels = 100;

type Gateway = Server['gateway'];

/** `/dashboard/models`: the catalog as it is now. */
export function createModelsPage(gateway: Gateway): Page {
  const list = (request: PageRequest) => describeList(gateway, request);
  return {
    path: modelsPath,
    role: 'account',
    title: 'models.title',
    navigation: { label: 'models.title', icon: 'models', order: 30, covers: [tryPath] },
    template: viewPath('dashboard/models/page.eta'),
    styles: ['models.css', 'tables.css'],
    scripts: ['htmx.js'],
    show: async (request) => ({
      path: modelsPath,
      search: readQuery(request.query).search,
      // The stream of an open page keeps the search that the page was opened with, not later ones.
      isHeld: request.query['hold'] === '1',
      isEmpty: request.host.catalog.models.length === 0,
      noPass: (await needsPass(request)) ? describeNoPass(request) : undefined,
      ...(await list(request)),
    }),
    live: { topics: ['health'], parts: { catalog: viewPath('dashboard/models/catalog.eta') }, values: list },
  };
}

function describeNoPass({ t }: PageRequest) {
  return {
    kind: 'warn',
    title: t('models.no_pass'),
    text: t('models.no_pass_text'),
    action: { path: plansPath, label: t('models.choose_plan') },
  };
}

/** The part that follows the state of the models. */
async function describeList(gateway: Gateway, request: PageRequest) {
  const { host, t, format } = request;
  const query = readQuery(request.query);
  const found = (await readModels(gateway, request)).filter((reading) => isFound(reading, query.search));
  const readings = found.filter(({ model }, index) => index < listedModels || model.publicName === query.open);
  const routeNames = routeNamesFor(request);
  const rows = readings.map((reading, index) => {
    const row = describeRow(reading, index + 1, query, request, host.now());
    return { ...row, detail: row.isOpen ? describeDetail(reading, routeNames, request) : undefined };
  });
  return {
    rows,
    hasRoutes: routeNames.areShown,
    columns: routeNames.areShown ? 8 : 7,
    count:
      rows.length < found.length
        ? t('models.shown', { shown: format.number(rows.length), all: format.number(found.length) })
        : t('models.count', { count: rows.length }),
    asOf: t('models.as_of', { time: format.clock(new Date(host.now())).text }),
    unmatched: {
      title: t('models.unmatched'),
      text: t('models.unmatched_text'),
      action: { path: addressOf({ search: '', open: '' }), label: t('models.clear') },
    },
  };
}

async function readModels(gateway: Gateway, request: PageRequest): Promise<ModelReading[]> {
  const { host } = request;
  const health = new Map((await readModelHealth(gateway, host)).map((one) => [one.id, one]));
  const { models, listed } = host.catalog;
  const alone = new Set(routeNamesFor(request).areShown ? modelsWithoutBackup(models) : []);
  const names = Map.groupBy(listed, ({ model }) => model);
  return models.map((model) => ({
    model,
    abilities: readAbilities(gateway, model),
    health: health.get(model.publicName),
    aliases: (names.get(model) ?? []).filter(({ name }) => name !== model.publicName).map(({ name }) => name),
    isAlone: alone.has(model),
  }));
}

function isFound({ model, abilities, aliases }: ModelReading, search: string): boolean {
  return matches(search, [model.publicName, model.displayName, ...aliases, ...speaksOf(abilities)]);
}

/** True for an account that must buy days before it can call models. False where plans cannot be bought. */
async function needsPass(request: PageRequest): Promise<boolean> {
  const { host } = request;
  if (configuredProvider(host) === undefined) return false;
  const [account] = await readAccounts(host.database, 'id', [accountOf(request).id]);
  return account !== undefined && activePeriod(account, account.readAt) === undefined;
}
