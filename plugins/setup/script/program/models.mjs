// The models that a tool is set up with, and the placeholders of its texts.
import { Refusal } from '../edit/common.mjs';
import { findModel } from './options.mjs';
import { run } from './run.mjs';

/**
 * What is to be done for a tool: the model, files, places (variables that move folders), variables, notes, and how it is
 * tried, with the values of the placeholders. The model is the one that the user names, that of the last run, or the default.
 * `otherFiles` are those that a run writes where it finds the opposite about WebSockets.
 *
 * @param takesSockets asks whether the gateway takes WebSockets, where that matters to the tool
 * @throws Refusal where no model suits the tool
 */
export function wishesOf(tool, saved, takesSockets = () => false) {
  const chosen = run.data.defaults.find(({ format }) => format === tool.format);
  const named = run.options.model || (saved && findModel(saved) ? saved : chosen?.model);
  const model = findModel(named);
  const small = findModel(chosen?.small ?? named);
  const traits = model && small && model.traits + (model === small ? '-same' : '');
  const variant = tool.variants.find((one) => one.traits.includes(traits));
  if (!variant) throw new Refusal('no model of this gateway suits it');
  const values = {
    KEY: run.key,
    MODEL: model.name,
    SMALL: small.name,
    CONTEXT: model.context,
    OUTPUT: model.output,
    SMALL_CONTEXT: small.context,
    SMALL_OUTPUT: small.output,
  };
  const { actions, withSockets } = variant;
  const [chosenActions, others = []] = withSockets && takesSockets() ? [withSockets, actions] : [actions, withSockets];
  const ofKind = (kind, from = chosenActions) => from.filter((action) => action.kind === kind);
  return {
    model: model.name,
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

/** In one pass, because a value could look like a placeholder. */
export function fill(text, values) {
  return text.replace(
    /@(KEY|MODEL|SMALL|CONTEXT|OUTPUT|SMALL_CONTEXT|SMALL_OUTPUT)@/g,
    (_, name) => values[name] ?? '',
  );
}

export function holdsKey(text) {
  return text.includes('@KEY@');
}
