import type { Command as Parser } from 'commander';
import { buildCatalog, catalogNotices } from '../build-catalog.ts';
import type { Catalog, Model } from '../catalog.ts';
import type { Config } from '../config/load.ts';
import type { CoreCommandContext } from './context.ts';

export function defineCheck(parser: Parser, { file, load, print }: CoreCommandContext): void {
  parser
    .command('check')
    .description('Validates the configuration and prints what would run. Exits with 1 when there are mistakes.')
    .action(async () => {
      const { config, registry } = await load();
      const catalog = buildCatalog(config, registry.vendors);
      print(`${file()} is valid`);
      for (const line of [
        ...describePipeline(config),
        ...describeCatalog(catalog),
        ...registry.catalogReviews.flatMap((review) => review.describe(catalog)),
        ...catalogNotices(catalog).map((notice) => `note: ${notice}`),
      ])
        print(line);
    });
}

function describePipeline(config: Config): string[] {
  return [
    '',
    'pipeline',
    ...config.stages.map(({ definition, options }) =>
      `  ${definition.name.padEnd(12)} ${describeOptions(options)}`.trimEnd(),
    ),
  ];
}

function describeOptions(options: unknown): string {
  return Object.entries(options as Record<string, unknown>)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
}

function describeCatalog({ models, upstreams }: Catalog): string[] {
  return [
    '',
    'upstreams',
    ...upstreams.map(({ name, formats, baseUrl, apiKeys, isEnabled, isDemo }) => {
      const state = isDemo ? 'demo' : isEnabled ? `${apiKeys.length} keys` : 'off';
      return `  ${name.padEnd(12)} ${formats.join(', ').padEnd(30)} ${state.padEnd(8)} ${isDemo ? '' : baseUrl}`.trimEnd();
    }),
    '',
    'models',
    ...models.map((model) => `  ${model.id.padEnd(24)} ${describeRoutes(model)}`),
    '',
  ];
}

function describeRoutes({ routes, hedgeAfter, resume }: Model): string {
  const options = [
    hedgeAfter === undefined ? [] : [`hedge after ${hedgeAfter} s`],
    resume === true ? ['resume'] : [],
  ].flat();
  const order = routes.map((route) => route.id).join(' → ');
  return options.length === 0 ? order : `${order} (${options.join(', ')})`;
}
