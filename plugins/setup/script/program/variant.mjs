// The variant of a tool's actions for a model, for the program and for launchers without a runtime.

/**
 * @param chosenModel name of the model; undefined for the default of the tool's format
 * @returns actions, withSockets (the actions if the gateway accepts WebSockets), and values of placeholders; undefined if no model suits
 *   the tool
 */
export function findVariant({ format, variants }, { defaults, models }, chosenModel) {
  const formatDefaults = defaults.find((entry) => entry.format === format);
  const find = (name) => models.find((model) => model.name === name);
  const model = find(chosenModel ?? formatDefaults?.model);
  const small = find(formatDefaults?.small ?? chosenModel ?? formatDefaults?.model);
  const features = model && small && model.features + (model === small ? '-same' : '');
  const variant = variants.find((candidate) => candidate.features.includes(features));
  const values = variant && {
    MODEL: model.name,
    SMALL: small.name,
    CONTEXT: model.context,
    OUTPUT: model.output,
    SMALL_CONTEXT: small.context,
    SMALL_OUTPUT: small.output,
  };
  return variant && { ...variant, values };
}

/** Fills in all values in one pass, because a value could look like a placeholder. */
export function fillPlaceholders(text, values) {
  return text.replace(
    /@(KEY|MODEL|SMALL|CONTEXT|OUTPUT|SMALL_CONTEXT|SMALL_OUTPUT)@/g,
    (_, name) => values[name] ?? '',
  );
}
