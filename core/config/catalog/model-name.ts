import type { Model } from './catalog.ts';

/** Matches the names of models that Claude Code lists. */
const claudeName = /^(?:claude|anthropic)/i;
const pickerPrefix = 'anthropic/';

/**
 * Creates the name of a model in the list for Claude Code: the public name without its prefix if Claude Code lists such a name, otherwise
 * the public name with a prefix that Claude Code lists.
 */
export function createPickerName(prefix: string, publicName: string): string {
  const shortName = publicName.slice(publicNameOf(prefix, '').length);
  return claudeName.test(shortName) ? shortName : pickerPrefix + publicName;
}

/** Extracts the public name from a name in the list for Claude Code; undefined without the added prefix. */
export function parsePickerName(name: string): string | undefined {
  return name.startsWith(pickerPrefix) ? name.slice(pickerPrefix.length) : undefined;
}

/** Creates the public name of a model, `<prefix>/<name>`. */
export function publicNameOf(prefix: string, name: string): string {
  return `${prefix}/${name}`;
}

/**
 * Chooses the name of the model in a request's responses and record: the public name if the request has the short name of gateway.yaml,
 * otherwise the requested name.
 *
 * @param requested name that the catalog has resolved to this model
 */
export function nameInReply({ id, publicName }: Pick<Model, 'id' | 'publicName'>, requested: string): string {
  return requested === id ? publicName : requested;
}
