import type { Command as Parser } from 'commander';
import { formatMoneyForTerminal } from '#core/business/accounts/money.ts';
import { currencySection, listPriceWarnings, plansSection, pricePerDay } from '#core/business/accounts/plans.ts';
import type { Capacity, Catalog, Model } from '#core/config/catalog/catalog.ts';
import { publicNameOf } from '#core/config/catalog/model-name.ts';
import type { GatewayDocument } from '#core/config/file/document.ts';
import { maskSecrets } from '#core/config/file/hide-secrets.ts';
import { listSectionNotices, type YamlPath } from '#core/config/section.ts';
import { buildCatalog, listCatalogNotices } from '#core/config/sections/build-catalog.ts';
import { service } from '#core/config/sections/core-sections.ts';
import { models } from '#core/config/sections/models-section.ts';
import { alignColumns } from '#core/extension/commands/table-text.ts';
import type { Registry } from '#core/extension/registry.ts';
import { findPipelineNotices } from '#core/extension/validation/pipeline-rules.ts';
import { findProductionNotices } from '#core/extension/validation/production-notices.ts';
import type { Config } from '#core/extension/validation/validate-config.ts';
import type { Logger } from '#core/platform/logger.ts';
import { listNodeNotices } from '#core/platform/node-release.ts';
import { loadPages } from '#core/web/serve.ts';
import type { CoreCommandContext, LoadedGateway } from './context.ts';
import { createReviewedHost } from './reviewed-host.ts';

export function defineCheck(parser: Parser, { file, load, log, print }: CoreCommandContext): void {
  parser
    .command('check')
    .description('validate the configuration and print it as the gateway would run it; exit with 78 if it has errors')
    .action(async () => {
      const loaded = await load();
      const { document, config, registry } = loaded;
      const catalog = buildCatalog(config, registry.vendors, registry.formats);
      await checkMigrations(registry);
      const uncheckedNotes = await checkPlugins(loaded, catalog, log);
      const host = createReviewedHost(loaded, catalog);
      const reviews = registry.configReviews.flatMap(({ name, describe }) => {
        const review = describe(host);
        return review === undefined ? [] : [{ name, ...review }];
      });
      const writtenCatalog = restoreCatalogVariables(catalog, config, document);
      print(`${file()} is valid`);
      for (const line of [
        ...describePipeline(config, document),
        ...describeService(reviews),
        ...describePlans(config),
        ...describeCatalog(writtenCatalog, config.get(service).prefix),
        ...registry.catalogReviews.flatMap((review) => review.describe(writtenCatalog)),
        ...[
          ...listNodeNotices(),
          ...findPipelineNotices(config.stages, registry, config),
          ...findProductionNotices(config, document.isProduction),
          ...listPriceWarnings(config),
          ...listSectionNotices(registry.sections.values(), config),
          ...reviews.flatMap(({ notice }) => notice ?? []),
          ...listCatalogNotices(writtenCatalog),
          ...uncheckedNotes,
        ].map((notice) => `note: ${notice}`),
      ])
        print(line);
    });
}

async function checkPlugins({ server, ...loaded }: LoadedGateway, catalog: Catalog, log: Logger): Promise<string[]> {
  if (server !== undefined && loaded.registry.foreignPlugins.size > 0) {
    const { dryStart } = await import('../dry-start.ts');
    return dryStart({ ...loaded, server, catalog, log });
  }
  // The built-in plugins are not started, because they have tests.
  await loadPages(loaded.registry);
  return [];
}

async function checkMigrations({ foreignTables }: Registry): Promise<void> {
  // All other migrations have tests.
  if (foreignTables.length === 0) return;
  const { listMigrations, loadMigrations } = await import('#core/platform/database/migration-files.ts');
  await Promise.all((await listMigrations(foreignTables)).map(loadMigrations));
}

function describePipeline(config: Config, document: GatewayDocument): string[] {
  return [
    '',
    'pipeline',
    ...config.stages.map(({ definition: { name, options: schema }, options, path }) =>
      `  ${name.padEnd(12)} ${describeOptions(maskSecrets(options, schema), [...path, name], document)}`.trimEnd(),
    ),
  ];
}

function describeService(reviews: readonly { readonly name: string; readonly value: string }[]): string[] {
  if (reviews.length === 0) return [];
  return ['', 'service', ...reviews.map(({ name, value }) => `  ${name.padEnd(12)} ${value}`)];
}

function describePlans(config: Config): string[] {
  const currency = config.get(currencySection);
  const formatPrice = (amount: number) => formatMoneyForTerminal(amount, currency);
  const plans = config.get(plansSection).toSorted((a, b) => a.days - b.days);
  const rows = plans.map(
    (plan) => [`${plan.days}`, formatPrice(plan.price), `${formatPrice(pricePerDay(plan))} a day`] as const,
  );
  const width = Math.max(...rows.map(([, price]) => price.length));
  return [
    '',
    'plans, in days',
    ...rows.map(([days, price, daily]) => `  ${days.padEnd(12)} ${price.padStart(width)}   ${daily}`),
  ];
}

function describeOptions(options: unknown, path: YamlPath, document: GatewayDocument): string {
  return Object.entries(options as Record<string, unknown>)
    .map(([name, value]) => `${name}: ${JSON.stringify(restoreVariables(value, [...path, name], document))}`)
    .join(', ');
}

function restoreVariables(value: unknown, path: YamlPath, document: GatewayDocument): unknown {
  if (Array.isArray(value)) return value.map((item, index) => restoreVariables(item, [...path, index], document));
  // A variable may contain a secret.
  if (typeof value !== 'object' || value === null) return document.findVariableText(path) ?? value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, restoreVariables(member, [...path, name], document)]),
  );
}

function restoreCatalogVariables(catalog: Catalog, config: Config, document: GatewayDocument): Catalog {
  return {
    upstreams: catalog.upstreams.map((upstream) => ({
      ...upstream,
      baseUrl: document.findVariableText(['upstreams', upstream.name, 'base_url']) ?? upstream.baseUrl,
    })),
    models: catalog.models.map((model) => ({
      ...model,
      routes: model.routes.map((route) => ({
        ...route,
        id: restoreRouteVariables(model.id, route.id, config, document),
      })),
    })),
    listed: catalog.listed,
    unavailable: catalog.unavailable,
    resolve: (name) => catalog.resolve(name),
    suggest: (name) => catalog.suggest(name),
    isUnavailable: (name) => catalog.isUnavailable(name),
  };
}

function restoreRouteVariables(model: string, id: string, config: Config, document: GatewayDocument): string {
  const routes = config.get(models)[model]?.routes ?? [];
  const index = routes.findIndex((route) => (typeof route === 'string' ? route : route.to) === id);
  const path = ['models', model, 'routes', index];
  return document.findVariableText(path) ?? document.findVariableText([...path, 'to']) ?? id;
}

function describeCatalog({ models: catalogModels, upstreams }: Catalog, prefix: string): string[] {
  return [
    '',
    'upstreams',
    ...alignColumns(
      upstreams.map(({ name, formats, baseUrl, apiKeys: { length: keys }, isEnabled, isDemo }) => {
        const keyCount = keys === 1 ? '1 key' : `${keys} keys`;
        if (isDemo) return [name, 'demo', '', formats.join(', ')];
        return [name, isEnabled ? keyCount : 'off', baseUrl, formats.join(', ')];
      }),
    ),
    '',
    `models (clients see ${publicNameOf(prefix, 'NAME')})`,
    ...alignColumns(catalogModels.map((model) => [model.id, describeRoutes(model)])),
    '',
  ];
}

const periodNames = new Map([
  [1_000, 'second'],
  [60_000, 'minute'],
  [3_600_000, 'hour'],
  [86_400_000, 'day'],
]);

function describeCapacity(capacity: Capacity | undefined): string {
  if (capacity === undefined) return '';
  const { concurrent, requests, period } = capacity;
  const parts = [
    concurrent === Infinity ? [] : [`${concurrent} at once`],
    requests === Infinity ? [] : [`${requests} per ${periodNames.get(period)}`],
  ];
  return ` [${parts.flat().join(', ')}]`;
}

function describeRoutes({ routes, hedgeAfter, resume }: Model): string {
  const options = [
    hedgeAfter === undefined ? [] : [`hedge after ${hedgeAfter} s`],
    resume === true ? ['resume'] : [],
  ].flat();
  const order = routes.map(({ id, upstream }) => `${id}${describeCapacity(upstream.capacity)}`).join(' → ');
  return options.length === 0 ? order : `${order} (${options.join(', ')})`;
}
