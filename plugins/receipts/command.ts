import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { receipts } from './resource.ts';

const examples = ['daypass receipt list', 'daypass receipt find 000123', 'daypass receipt list --waiting'];

/** `daypass receipt …`: what receipts there are, with their numbers. */
export const receiptCommand: Command = {
  name: 'receipt',
  define(parser, context) {
    parser
      .description('list and find receipts of payments and refunds')
      .addHelpText('after', exampleText(examples, ''));
    addListCommand(parser, context, receipts);
  },
};
