import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { balances } from './resource.ts';

/** `daypass balance list`: what is left in accounts at vendors. */
export const balanceCommand: Command = {
  name: 'balance',
  define(parser, context) {
    parser
      .description('list what is left in the accounts at vendors')
      .addHelpText('after', exampleText(['daypass balance list'], ''));
    addListCommand(parser, context, balances);
  },
};
