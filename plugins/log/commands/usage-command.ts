import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import { addActionOptions, readActionInput, resolveTimes } from '#core/extension/commands/action-options.ts';
import type { Command } from '#core/extension/commands/command.ts';
import { zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import type { OutputOptions } from '#core/extension/commands/show-command.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Infer, object } from '#core/platform/schema.ts';
import { describeQuery, readQuery } from '#core/web/resources/resource.ts';
import type { UsageGrouping } from './describe-usage.ts';
import { formatExamples, createSelectionFilter, selection } from './selection.ts';

type CostsSource = Pick<Registry, 'costsReader'>;

const createQuerySchema = ({ costsReader }: CostsSource) => {
  const groupings: readonly UsageGrouping[] = ['account', 'model', 'route', 'client', 'plan', 'hour'];
  const by = groupings.filter((grouping) => grouping !== 'plan' || costsReader !== undefined);
  return object({ ...selection, by: { enum: by, description: 'What to group by; default: model.' } });
};

async function createUsageFilter(
  host: Host,
  { by = 'model', ...members }: Infer<ReturnType<typeof createQuerySchema>>,
) {
  const filter = await createSelectionFilter(host, members);
  if (by === 'client' && filter.accountId !== undefined)
    throw new InvalidQuery('Clients are counted over all accounts. Leave out "account", or use another "by".');
  return { by, filter };
}

export const usageCommand = (gateway: CostsSource): Command => ({
  name: 'usage',
  define(parser, context) {
    // Built only now, because plugins that are registered later may provide costs.
    const input = createQuerySchema(gateway);
    addActionOptions(parser, { input })
      .description('count requests, errors, tokens and their cost by account, model, route, client, plan or hour')
      .addOption(zoneOption())
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        `
Without --since, the last 24 hours. Usage is kept by hour (UTC) for 400 days, longer than the requests themselves. With --by route, tries
are all attempts on the route, whichever route served the request in the end.${gateway.costsReader === undefined ? '' : ` ${gateway.costsReader.usage.help}`}${formatExamples(['daypass usage --by account --since 30d', 'daypass usage --by hour --model dp/gpt-6-sol --json'])}`,
      )
      .action((options: OutputOptions) =>
        context.withHost(async (host) => {
          const { printUsage } = await import('./print-usage.ts');
          const timeZone = zoneOf(host, options);
          const values = readActionInput<Infer<typeof input>>({ input }, { ...options });
          const query = await resolveTimes(host, input, values, timeZone);
          const { by, filter } = await createUsageFilter(host, query);
          const output = { print: context.print, isJson: options.json === true, timeZone };
          await printUsage(host, filter, by, output, gateway.costsReader?.usage);
        }),
      );
  },
});

export const usageReading = (gateway: CostsSource): OperatorReading => ({
  path: '/usage',
  summary: 'count requests, errors, tokens and their cost by account, model, route, client, plan or hour',
  get query() {
    return describeQuery(createQuerySchema(gateway));
  },
  async read(host, _handle, query) {
    const { readUsageJson } = await import('./print-usage.ts');
    const { by, filter } = await createUsageFilter(host, await readQuery(createQuerySchema(gateway), query));
    return readUsageJson(host, filter, by, gateway.costsReader?.usage);
  },
});
