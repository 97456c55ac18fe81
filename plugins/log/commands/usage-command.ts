import type { UsageGrouping } from './describe-usage.ts';
import { Option } from 'commander';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { addSelectionOptions, examples, outputOf, readSelection, type SelectionOptions } from './request-options.ts';

interface UsageOptions extends SelectionOptions {
  readonly by: UsageGrouping;
}

/** `daypass usage …`: for the operator. Works beside a running gateway. */
export const usageCommand = (gateway: Pick<Registry, 'costsReader'>): Command => ({
  name: 'usage',
  define(parser, context) {
    addSelectionOptions(parser)
      .description('count requests, errors, tokens and their cost by account, model, route, client, plan or hour')
      .addOption(
        new Option('--by <group>', 'what to count by')
          .choices([
            'account',
            'model',
            'route',
            'client',
            ...(gateway.costsReader === undefined ? [] : ['plan']),
            'hour',
          ])
          .default('model'),
      )
      .option('--json', 'print JSON')
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
            const filter = await readSelection(host, options);
            if (options.by === 'client' && filter.accountId !== undefined)
              throw new CommandFailed(
                'Clients are counted over all accounts. Leave out --account, or use another --by.',
              );
            const output = outputOf(context, host, options);
            await printUsage(host, filter, options.by, output, gateway.costsReader?.usage);
          }),
        ),
      );
  },
});
