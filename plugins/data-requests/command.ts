import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { answerAction, recordAction } from './actions.ts';
import { dataRequests } from './resource.ts';

const examples = [
  'daypass data-request list --state open',
  'daypass data-request record --kind correction --channel mail --account ani@example.com --text "My name is Ani."',
  'daypass data-request answer REQUEST --outcome done --answer "Your name is corrected."',
];

/** `daypass data-request …`: what people ask about their data. */
export const dataRequestCommand: Command = {
  name: 'data-request',
  define(parser, context) {
    parser
      .description('list requests about data, record those that came by mail or chat, and answer them')
      .addHelpText('after', exampleText(examples, ''));
    addListCommand(parser, context, dataRequests);
    for (const action of [recordAction, answerAction]) addActionCommand(parser, context, action);
  },
};
