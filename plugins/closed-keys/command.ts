import { addActionCommand } from '#core/extension/commands/action-command.ts';
import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { retryAction } from './actions.ts';
import { closedKeys } from './resource.ts';

/** `daypass closure …`: keys that vendors have closed. */
export const closedKeyCommand: Command = {
  name: 'closure',
  define(parser, context) {
    parser
      .description('list API keys of upstreams that their vendors have closed, and try one again')
      .addHelpText('after', exampleText(['daypass closure list'], ''));
    addListCommand(parser, context, closedKeys);
    addActionCommand(parser, context, retryAction);
  },
};
