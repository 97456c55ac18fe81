import type { UsageGrouping } from './describe-usage.ts';
import { Option } from 'commander';
import { parseLine } from '#core/extension/commands/arguments.ts';
import { zoneOf, zoneOption } from '#core/extension/commands/days.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { Command } from '#core/extension/commands/command.ts';
import { accountOption, examples, readSelection, type SelectionOptions, sinceOption } from './request-options.ts';

interface UsageOptions extends SelectionOptions {
  readonly by: UsageGrouping;
  readonly json?: true;
}

/** `daypass usage …`: for the operator. Works beside a running gateway. */
export const usageCommand = (gateway: Pick<Registry, 'costsReader'>): Command => ({
  name: 'usage',
  define(parser, context) {
    parser
      .description('count requests, errors, tokens and their cost by account, model, route, plan or hour')
      .addOption(
        new Option('--by <group>', 'what to count by')
          .choices(['account', 'model', 'route', ...(gateway.costsReader === undefined ? [] : ['plan']), 'hour'])
          .default('model'),
      )
      .addOption(accountOption())
      .option('--model <model>', 'of this model, whichever name the client used', parseLine)
      .option('--route <route>', 'served by this route, such as openai/gpt-6-sol', parseLine)
      .addOption(sinceOption())
      .option('--json', 'print JSON')
      .addOption(zoneOption())
      .addHelpText(
        'after',
        `
Usage is kept by hour (UTC) for 400 days, longer than the requests themselves. With --by route, tries are all attempts on the route,
whichever one served in the end.${gateway.costsReader === undefined ? '' : ` ${gateway.costsReader.usage.help}`}${examples(['daypass usage --by account --since 30d', 'daypass usage --by hour --model dp/gpt-6-sol --json'])}`,
      )
      .action((options: UsageOptions) =>
        explainErrors(
          context.withHost(async (host) => {
            const { printUsage } = await import('./print-usage.ts');
            await printUsage(
              host,
              await readSelection(host, options),
              options.by,
              {
                print: context.print,
                isJson: options.json === true,
                timeZone: zoneOf(host, options),
              },
              gateway.costsReader?.usage,
            );
          }),
        ),
      );
  },
});
