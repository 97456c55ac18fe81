import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorResource } from '#core/web/resources/resource.ts';
import { addActionCommand } from './action-command.ts';
import { type Command, exampleText } from './command.ts';
import { addListCommand } from './list-command.ts';

interface ResourceWords {
  readonly description: string;
  readonly actions?: readonly ActionKind[];
  /** Default: its list. */
  readonly examples?: readonly string[];
}

/** `daypass NAME …`: the list of a resource, `find` if its query has words, and these actions. */
export function resourceCommand<Entry>(
  resource: OperatorResource<Entry>,
  { description, actions = [], examples = [`daypass ${resource.name} list`] }: ResourceWords,
): Command {
  return {
    name: resource.name,
    define(parser, context) {
      parser.description(description).addHelpText('after', exampleText(examples, ''));
      addListCommand(parser, context, resource);
      if ('words' in resource.query.properties) addListCommand(parser, context, resource, { verb: 'find' });
      for (const action of actions) addActionCommand(parser, context, action);
    },
  };
}
