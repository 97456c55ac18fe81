import type { OperatorReading } from '#core/business/operator-actions/operator-reading.ts';
import { InvalidQuery } from '#core/business/operator-actions/query.ts';
import { addActionOptions, readActionInput, resolveTimes } from '#core/extension/commands/action-options.ts';
import type { Command } from '#core/extension/commands/command.ts';
import { zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import type { Output } from '#core/extension/commands/show-command.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { type Infer, object } from '#core/platform/schema.ts';
import { describeQuery, readQuery } from '#core/web/resources/resource.ts';
import type { UsageGrouping } from './describe-usage.ts';
import { examples, readSelection, selection } from './selection.ts';

type Costs = Pick<Registry, 'costsReader'>;

const queryOf = ({ costsReader }: Costs) => {
  const groupings: readonly UsageGrouping[] = ['account', 'model', 'route', 'client', 'plan', 'hour'];
  const by = groupings.filter((one) => one !== 'plan' || costsReader !== undefined);
  return object({ ...selection, by: { enum: by, description: 'What to count by; default: model.' } });
};

/** @throws InvalidQuery, AccountError, CheckoutError */
async function readUsageFilter(host: Host, { by = 'model', ...selected }: Infer<ReturnType<typeof queryOf>>) {
  const filter = await readSelection(host, selected);
  if (by === 'client' && filter.accountId !== undefined)
    throw new InvalidQuery('Clients are counted over all accounts. Leave out "account", or use another "by".');
  return { by, filter };
}

/** `daypass usage …`: for the operator. Works next to a running gateway. */
export const usageCommand = (gateway: Costs): Command => ({
  name: 'usage',
  define(parser, context) {
    // The query is read late, because plugins that are registered later may know costs.
    const input = queryOf(gateway);
    addActionOptions(parser, { input })
      .description('count requests, errors, tokens and their cost by account, model, route, client, plan or hour')
      .addOption(zoneOption())
      .option('--json', 'print JSON')
      .addHelpText(
        'after',
        `
Without --since, the last 24 hours. Usage is kept by hour (UTC) for 400 days, longer than the requests themselves. With --by route, tries
are all attempts on the route, whichever one served in the end.${gateway.costsReader === undefined ? '' : ` ${gateway.costsReader.usage.help}`}${examples(['daypass usage --by account --since 30d', 'daypass usage --by hour --model dp/gpt-6-sol --json'])}`,
      )
      .action((options: Output) =>
        explainErrors(
          context.withHost(async (host) => {
            const { printUsage } = await import('./print-usage.ts');
            const timeZone = zoneOf(host, options);
            const given = readActionInput<Infer<typeof input>>({ input }, { ...options });
            const asked = await resolveTimes(host, input, given, timeZone);
            const { by, filter } = await readUsageFilter(host, asked);
            const output = { print: context.print, isJson: options.json === true, timeZone };
            await printUsage(host, filter, by, output, gateway.costsReader?.usage);
          }),
        ),
      );
  },
});

/** `GET /operator/api/usage`. */
export const usageReading = (gateway: Costs): OperatorReading => ({
  path: '/usage',
  summary: 'count requests, errors, tokens and their cost by account, model, route, client, plan or hour',
  get query() {
    return describeQuery(queryOf(gateway));
  },
  async read(host, _handle, given) {
    const { readUsageJson } = await import('./print-usage.ts');
    const { by, filter } = await readUsageFilter(host, await readQuery(queryOf(gateway), given));
    return readUsageJson(host, filter, by, gateway.costsReader?.usage);
  },
});
