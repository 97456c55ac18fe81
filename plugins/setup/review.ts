import { readAbilities } from '#core/config/catalog/abilities.ts';
import { type Abilities, type CatalogHost, defaultsOf, findModel } from './defaults.ts';
import { namedModels, setupSection } from './section.ts';
import { scriptedFormats } from './tools.ts';

/** The lines of `gateway check` about the section: the models of tools, and why one that it names is not used. */
export function reviewSetup(host: CatalogHost, registry: Abilities): { value: string; notice: string[] } {
  const models = scriptedFormats.flatMap((format) => defaultsOf(format, host, registry)?.model.name ?? []);
  return {
    value: models.length === 0 ? 'no model for tools' : [...new Set(models)].join(', '),
    notice: namedModels(host.section(setupSection)).flatMap(({ path, name }) => {
      const reason = whyNotOffered(name, host, registry);
      return reason === undefined ? [] : [`${path.join('.')} "${name}" is not used: ${reason}`];
    }),
  };
}

/** Undefined for a name that is offered. The configuration is valid: the name is plain, and that of a model or an alias. */
function whyNotOffered(name: string, host: CatalogHost, registry: Abilities): string | undefined {
  const found = findModel(name, host);
  if (found === undefined) return 'all upstreams of the model are off';
  if (readAbilities(registry, found.model).conversations.length === 0) return 'the model holds no conversations';
  return undefined;
}
