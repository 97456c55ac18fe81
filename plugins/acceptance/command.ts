import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { acceptances } from './resource.ts';

const examples = ['daypass acceptance list', 'daypass acceptance list --order ORD-7F3K2MQX'];

/** `daypass acceptance list`: who accepted which version of the terms when. */
export const acceptanceCommand: Command = {
  name: 'acceptance',
  define(parser, context) {
    parser
      .description('list which versions of the terms buyers have accepted')
      .addHelpText('after', exampleText(examples, ''));
    addListCommand(parser, context, acceptances);
  },
};
