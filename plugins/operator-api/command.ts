import { Option } from 'commander';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { zoneOf } from '#core/extension/commands/days.ts';
import { formatTable, formatTime } from '#core/extension/commands/table-text.ts';
import type { Scope } from './tokens.ts';

const tokens = () => import('./tokens.ts');

/** `daypass operator-token …`: tokens of the operator's API. */
export const operatorTokenCommand: Command = {
  name: 'operator-token',
  define(parser, context) {
    parser.description('create, list and revoke tokens of the operator API (operator_api in gateway.yaml)');
    parser
      .command('create')
      .description('create a token and print it, once')
      .argument('<name>', 'which program uses it', parseLine)
      .addOption(
        new Option('--scope <scope>', 'read, or act to change accounts and orders')
          .choices(['read', 'act'])
          .default('read'),
      )
      .option('--days <days>', 'days until it expires, 1 to 3650', parseInteger(1, 3_650), 90)
      .action((name: string, options: { scope: Scope; days: number }) =>
        context.withHost(async ({ database }) => {
          const token = await (await tokens()).createToken(database, { name, ...options });
          if (token === undefined)
            throw new CommandFailed(`A token with the name ${name} exists. Choose another name.`);
          context.print(token);
        }),
      );
    parser
      .command('list')
      .description('list tokens, the newest first')
      .action(() =>
        context.withHost(async (host) => {
          const all = await (await tokens()).listTokens(host.database);
          const time = (value: Date | undefined) => formatTime(value, zoneOf(host, {}));
          if (all.length === 0) return context.print('No token.');
          const rows = all.map(({ name, scope, createdAt, expiresAt, lastUsedAt, revokedAt }) => [
            name,
            scope,
            ...[createdAt, expiresAt, lastUsedAt, revokedAt].map(time),
          ]);
          for (const line of formatTable(['name', 'scope', 'created', 'expires', 'last used', 'revoked'], rows))
            context.print(line);
        }),
      );
    parser
      .command('revoke')
      .description('refuse a token from now on')
      .argument('<name>', 'its name', parseLine)
      .action((name: string) =>
        context.withHost(async ({ database }) => {
          if (!(await (await tokens()).revokeToken(database, name)))
            throw new CommandFailed(`No token in force has the name ${name}.`, 3);
          context.print(`revoked ${name}`);
        }),
      );
  },
};
