import type { Model } from './catalog.ts';

const claudeName = /^(?:claude|anthropic)/i; // Claude Code lists only models with such names
const pickerPrefix = 'anthropic/';

/**
 * Creates a model's name for the list in Claude Code: the public name without its prefix if Claude Code lists such names, otherwise the
 * public name with a prefix that it lists.
 */
export function createPickerName(prefix: string, publicName: string): string {
  const shortName = publicName.slice(publicNameOf(prefix, '').length);
  return claudeName.test(shortName) ? shortName : pickerPrefix + publicName;
}

/** Extracts the public name from a name in the list for Claude Code; undefined if it does not have the added prefix. */
export function parsePickerName(name: string): string | undefined {
  return name.startsWith(pickerPrefix) ? name.slice(pickerPrefix.length) : undefined;
}

export function publicNameOf(prefix: string, name: string): string {
  return `${prefix}/${name}`;
}

/**
 * Returns the model's name for the response to a request and for its record: the public name if the request has the short name from
 * gateway.yaml, otherwise the name in the request.
 *
 * @param requested name that the catalog has resolved to this model
 */
export function nameInReply({ id, publicName }: Pick<Model, 'id' | 'publicName'>, requested: string): string {
  return requested === id ? publicName : requested;
}
