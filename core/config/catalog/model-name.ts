import type { Model } from './catalog.ts';

/** Claude Code lists these only and drops all other models. */
const claudeNames = /^(?:claude|anthropic)/i;
const pickerPrefix = 'anthropic/';

/**
 * The name of a model in the list for Claude Code: without the prefix of public names where that is enough for it, and with
 * another one where it is not.
 */
export function pickerNameOf(prefix: string, publicName: string): string {
  const short = publicName.slice(publicNameOf(prefix, '').length);
  return claudeNames.test(short) ? short : pickerPrefix + publicName;
}

/** The public name in a name of that list. */
export function nameInPicker(name: string): string | undefined {
  return name.startsWith(pickerPrefix) ? name.slice(pickerPrefix.length) : undefined;
}

/** `<prefix>/<name>`: the name under which clients see a model of the catalog. */
export function publicNameOf(prefix: string, name: string): string {
  return `${prefix}/${name}`;
}

/**
 * The name of the model in everything that the client gets for a request, and in its record: as requested, and the public
 * name for the short one of gateway.yaml.
 *
 * @param requested a name that the catalog has resolved to this model
 */
export function nameInReply({ id, publicName }: Pick<Model, 'id' | 'publicName'>, requested: string): string {
  return requested === id ? publicName : requested;
}
