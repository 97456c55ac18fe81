import type { Model } from './catalog.ts';

/** Claude Code lists only models with such names and drops all others. */
const claudeNames = /^(?:claude|anthropic)/i;
const pickerPrefix = 'anthropic/';

/**
 * Returns the name of a model in the list for Claude Code: without the prefix of public names if Claude Code accepts that, else behind a
 * prefix that it accepts.
 */
export function pickerNameOf(prefix: string, publicName: string): string {
  const short = publicName.slice(publicNameOf(prefix, '').length);
  return claudeNames.test(short) ? short : pickerPrefix + publicName;
}

/** Extracts the public name from a name of the list for Claude Code. */
export function nameInPicker(name: string): string | undefined {
  return name.startsWith(pickerPrefix) ? name.slice(pickerPrefix.length) : undefined;
}

/** Returns `<prefix>/<name>`: the name under which clients see a model of the catalog. */
export function publicNameOf(prefix: string, name: string): string {
  return `${prefix}/${name}`;
}

/**
 * Returns the name of the model in a request's responses and record: the requested name, but the public name in place of the short name of
 * gateway.yaml.
 *
 * @param requested a name that the catalog has resolved to this model
 */
export function nameInReply({ id, publicName }: Pick<Model, 'id' | 'publicName'>, requested: string): string {
  return requested === id ? publicName : requested;
}
