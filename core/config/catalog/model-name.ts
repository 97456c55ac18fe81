import type { Model } from './catalog.ts';

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
