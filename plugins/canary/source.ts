import { type Command as Parser, InvalidArgumentError, Option } from 'commander';
import { parseLine } from '#core/extension/commands/arguments.ts';
import type { Registry } from '#core/extension/registry.ts';
import type { VariantSource } from '#core/extension/variants.ts';

export const createCanarySource = (gateway: Registry): VariantSource => ({
  name: 'canary',
  declareOptions,
  load: async () => (await import('./variants.ts')).createCanaryVariants(gateway),
});

function declareOptions(reload: Parser): void {
  reload
    .description('read gateway.yaml again on all instances, or try another file on a share of the accounts')
    .argument('[file]', 'the new configuration, for --canary; default: gateway.yaml, if a change to it was rolled back')
    .addOption(
      new Option('--canary <share>', 'serve it to this share of the accounts, such as 10%').argParser(parseShare),
    )
    .option('--for <time>', 'time until it may be promoted automatically: 10m, 2h; default: 10m', parseSeconds)
    .option('--note <text>', 'why', parseLine)
    .addOption(new Option('--full', 'serve the running canary to all accounts').conflicts(['canary', 'status']))
    .addOption(new Option('--status', 'compare the running canary with the others').conflicts('canary'))
    .addHelpText(
      'after',
      `
A canary serves the same accounts on all instances. It is compared with the others by failures, refusals and time to first token, and rolled
back automatically if it is worse. If it is no worse, it is promoted to all accounts after its time; with too few requests for a verdict, it
continues. "daypass rollback" ends it. Requests in flight finish on the configuration that they started with.

A change to gateway.yaml itself is loaded at once for all accounts, so write the change into a different file.

  daypass reload gateway.next.yaml --canary 10% --for 10m
  daypass reload --status`,
    );
}

function parseShare(text: string): number {
  const share = /^\d{1,2}(\.\d{1,2})?%$/.test(text) ? Number(text.slice(0, -1)) / 100 : 0;
  if (share > 0) return share;
  throw new InvalidArgumentError('It must be a share of the accounts from 0.01% to 99.99%, such as 10%.');
}

function parseSeconds(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * ({ s: 1, m: 60, h: 3_600 }[unit] ?? 0);
  if (seconds >= 60 && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It must be a time from 1m to 24h, such as 10m.');
}
