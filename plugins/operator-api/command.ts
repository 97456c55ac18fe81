import { Option } from 'commander';
import { parseInteger, parseLine } from '#core/extension/commands/arguments.ts';
import { type Command, CommandFailed } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { apiTokens } from './tokens-resource.ts';
import type { Scope } from './tokens.ts';

const loadTokens = () => import('./tokens.ts');

export const operatorTokenCommand: Command = {
  name: 'operator-token',
  define(parser, context) {
    parser.description('create, list and revoke tokens of the operator API (operator_api in gateway.yaml)');
    parser
      .command('create')
      .description('create a token and print it, once')
      .argument('<name>', 'name of the program that uses it', parseLine)
      .addOption(
        new Option('--scope <scope>', 'read, or act, which may also change accounts and orders')
          .choices(['read', 'act'])
          .default('read'),
      )
      .option('--days <days>', 'days until it expires, 1 to 3650', parseInteger(1, 3_650), 90)
      .action((name: string, options: { scope: Scope; days: number }) =>
        context.withHost(async ({ database }) => {
          const token = await (await loadTokens()).createToken(database, { name, ...options });
          if (token === undefined)
            throw new CommandFailed(`A token named ${name} already exists. Choose another name.`);
          context.print(token);
        }),
      );
    addListCommand(parser, context, apiTokens);
    parser
      .command('revoke')
      .description('revoke a token')
      .argument('<name>', 'name of the token', parseLine)
      .action((name: string) =>
        context.withHost(async ({ database }) => {
          if (!(await (await loadTokens()).revokeToken(database, name)))
            throw new CommandFailed(`No active token is named ${name}.`, 3);
          context.print(`revoked ${name}`);
        }),
      );
  },
};
