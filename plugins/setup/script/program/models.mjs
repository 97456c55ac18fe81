// The settings of a tool for a model.

import { Refusal } from '../edit/common.mjs';
import { findModel } from './options.mjs';
import { run } from './run.mjs';
import { fillPlaceholders, findVariant } from './variant.mjs';

/**
 * The model is the one that the user has chosen, now or in the last run, or the default. `places` are variables that move the tool's
 * folders. `otherFiles` are the files that it would have if the gateway's support of WebSockets were the opposite.
 *
 * @param takesSockets tests whether the gateway accepts WebSockets; called only if that matters to the tool
 * @throws Refusal if no model suits the tool
 */
export function describeTarget(tool, savedModel, takesSockets = () => false) {
  const chosenModel = run.options.model || (savedModel && findModel(savedModel) ? savedModel : undefined);
  const variant = findVariant(tool, run.data, chosenModel);
  if (!variant) throw new Refusal('no model of this gateway suits it');
  const { actions, withSockets } = variant;
  const values = { ...variant.values, KEY: run.key };
  const [chosenActions, otherActions = []] =
    withSockets && takesSockets() ? [withSockets, actions] : [actions, withSockets];
  const ofKind = (kind, from = chosenActions) => from.filter((action) => action.kind === kind);
  return {
    model: values.MODEL,
    fill: values,
    places: ofKind('place'),
    files: ofKind('file'),
    otherFiles: ofKind('file', otherActions),
    variables: ofKind('variable').map(({ name, value }) => [name, fillPlaceholders(value, values)]),
    notes: ofKind('note').map(({ text }) => fillPlaceholders(text, values)),
    start: tool.start && fillPlaceholders(tool.start, values),
    trial: tool.trial?.map((word) => fillPlaceholders(word, values)),
  };
}

export function holdsKey(text) {
  return text.includes('@KEY@');
}
