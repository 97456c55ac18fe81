import { type Command, exampleText } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { retirements } from './resource.ts';

/** `daypass retirement list`: routes whose models end. */
export const retirementCommand: Command = {
  name: 'retirement',
  define(parser, context) {
    parser
      .description('list routes whose vendor retires their model')
      .addHelpText('after', exampleText(['daypass retirement list'], ''));
    addListCommand(parser, context, retirements);
  },
};
