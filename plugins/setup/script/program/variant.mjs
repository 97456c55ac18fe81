// Settings of a tool for one model: for the program, and for the tables of launchers without a runtime.

/**
 * @param named the model, undefined for the default of the tool's format
 * @returns actions, withSockets (those where the gateway takes WebSockets), and the values of their placeholders; undefined where
 *   no model suits the tool
 */
export function variantOf({ format, variants }, { defaults, models }, named) {
  const chosen = defaults.find((one) => one.format === format);
  const find = (name) => models.find((model) => model.name === name);
  const model = find(named ?? chosen?.model);
  const small = find(chosen?.small ?? named ?? chosen?.model);
  const traits = model && small && model.traits + (model === small ? '-same' : '');
  const variant = variants.find((one) => one.traits.includes(traits));
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

/** In one pass, because a value could look like a placeholder. */
export function fill(text, values) {
  return text.replace(
    /@(KEY|MODEL|SMALL|CONTEXT|OUTPUT|SMALL_CONTEXT|SMALL_OUTPUT)@/g,
    (_, name) => values[name] ?? '',
  );
}
