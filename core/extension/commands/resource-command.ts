import type { ActionKind } from '#core/business/operator-actions/action-kind.ts';
import type { OperatorResource } from '#core/web/resources/resource.ts';
import { type ActionCommandWords, addActionCommand } from './action-command.ts';
import { type Command, exampleText } from './command.ts';
import { addListCommand } from './list-command.ts';

/** Texts for a resource's command that cannot be derived from the resource. */
export interface ResourceWords {
  /** Default: the resource's summary. */
  readonly description?: string;
  /** Actions, each optionally with a command-line presentation that differs from the action's own description. */
  readonly actions?: readonly (ActionKind | readonly [action: ActionKind, wording: ActionCommandWords])[];
  /** Default: `daypass NAME list`. */
  readonly examples?: readonly string[];
  readonly exitCodes?: string;
}

/** Creates `daypass NAME …` with the subcommands `list`, `find` (if the resource's query has `words`), and one per action. */
export function resourceCommand<Entry>(resource: OperatorResource<Entry>, words: ResourceWords): Command {
  const name = resource.name.replaceAll('_', '-');
  const { description = resource.summary, examples = [`daypass ${name} list`], exitCodes = '' } = words;
  return {
    name,
    define(parser, context) {
      parser.description(description).addHelpText('after', exampleText(examples, exitCodes));
      addListCommand(parser, context, resource, { exitCodes });
      if ('words' in resource.query.properties) addListCommand(parser, context, resource, { verb: 'find', exitCodes });
      for (const [action, wording] of listActions(words)) addActionCommand(parser, context, action, wording);
    },
  };
}

export function listActions({ actions = [] }: ResourceWords): (readonly [ActionKind, ActionCommandWords?])[] {
  return actions.map((entry) => ('name' in entry ? [entry] : entry));
}
