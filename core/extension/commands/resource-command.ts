import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorResource } from '#core/web/resources/resource.ts';
import { type ActionCommandWords, addActionCommand } from './action-command.ts';
import { type Command, exampleText } from './command.ts';
import { addListCommand } from './list-command.ts';

interface ResourceWords {
  readonly description: string;
  /** Actions, each with its command-line form if this differs from the action's description. */
  readonly actions?: readonly (ActionKind | readonly [action: ActionKind, wording: ActionCommandWords])[];
  /** Default: `daypass NAME list`. */
  readonly examples?: readonly string[];
  readonly exitCodes?: string;
}

/** Creates `daypass NAME …` with the subcommand `list`, `find` if the resource's query has `words`, and the given actions. */
export function resourceCommand<Entry>(
  resource: OperatorResource<Entry>,
  { description, actions = [], examples = [`daypass ${resource.name} list`], exitCodes = '' }: ResourceWords,
): Command {
  return {
    name: resource.name.replaceAll('_', '-'),
    define(parser, context) {
      parser.description(description).addHelpText('after', exampleText(examples, exitCodes));
      addListCommand(parser, context, resource, { exitCodes });
      if ('words' in resource.query.properties) addListCommand(parser, context, resource, { verb: 'find', exitCodes });
      for (const entry of actions) {
        const [action, wording] = 'name' in entry ? [entry] : entry;
        addActionCommand(parser, context, action, wording);
      }
    },
  };
}
