// The wishes of a tool: what is to be done for it with a model.
import { Refusal } from '../edit/common.mjs';
import { findModel } from './options.mjs';
import { run } from './run.mjs';
import { fill, variantOf } from './variant.mjs';

/**
 * The job of setting up a tool: the model, files, places (variables that move folders), variables, notes, and how it is
 * tried, with the values of the placeholders. The model is named by the user, taken from the last run, or the default.
 * `otherFiles` are those that a run writes where it finds the opposite about WebSockets.
 *
 * @param takesSockets asks whether the gateway takes WebSockets, where that matters to the tool
 * @throws Refusal where no model suits the tool
 */
export function wishesOf(tool, saved, takesSockets = () => false) {
  const named = run.options.model || (saved && findModel(saved) ? saved : undefined);
  const variant = variantOf(tool, run.data, named);
  if (!variant) throw new Refusal('no model of this gateway suits it');
  const { actions, withSockets } = variant;
  const values = { ...variant.values, KEY: run.key };
  const [chosenActions, others = []] = withSockets && takesSockets() ? [withSockets, actions] : [actions, withSockets];
  const ofKind = (kind, from = chosenActions) => from.filter((action) => action.kind === kind);
  return {
    model: values.MODEL,
    fill: values,
    places: ofKind('place'),
    files: ofKind('file'),
    otherFiles: ofKind('file', others),
    variables: ofKind('variable').map(({ name, value }) => [name, fill(value, values)]),
    notes: ofKind('note').map(({ text }) => fill(text, values)),
    start: tool.start && fill(tool.start, values),
    trial: tool.trial?.map((word) => fill(word, values)),
  };
}

export function holdsKey(text) {
  return text.includes('@KEY@');
}
