import { readAbilities } from '#core/catalog/abilities.ts';
import type { SectionValue } from '#core/config/section.ts';
import type { Registry } from '#core/extension/registry.ts';
import { type CatalogHost, defaultsOf, findModel } from './defaults.ts';
import { setupSection } from './section.ts';
import { tools } from './tools.ts';

type Abilities = Pick<Registry, 'abilityReader'>;

/** What `gateway check` prints of the section: the models of tools, and why one that it names is not among them. */
export function reviewSetup(host: CatalogHost, registry: Abilities): { value: string; notice: string[] } {
  const formats = [...new Set(tools.filter(({ script }) => script !== undefined).map((tool) => tool.formats[0]))];
  const models = formats.flatMap((format) => defaultsOf(format, host, registry)?.model.name ?? []);
  return {
    value: models.length === 0 ? 'no model for tools' : [...new Set(models)].join(', '),
    notice: namesIn(host.section(setupSection)).flatMap(({ path, name }) => {
      const reason = whyNotOffered(name, host, registry);
      return reason === undefined ? [] : [`${path} "${name}" is not used: ${reason}`];
    }),
  };
}

function namesIn({ formats, ...all }: SectionValue<typeof setupSection>) {
  const everywhere = [
    ['setup', all] as const,
    ...Object.entries(formats).map(([format, names]) => [`setup.formats.${format}`, names] as const),
  ];
  return everywhere.flatMap(([path, names]) =>
    (['model', 'small_model'] as const).flatMap((key) => {
      const name = names?.[key];
      return name === undefined ? [] : [{ path: `${path}.${key}`, name }];
    }),
  );
}

/** The configuration is valid: the name is plain, and that of a model or of an alias. */
function whyNotOffered(name: string, host: CatalogHost, registry: Abilities): string | undefined {
  const found = findModel(name, host);
  if (found === undefined) return 'all upstreams of the model are off';
  if (readAbilities(registry, found.model).conversations.length === 0) return 'the model holds no conversations';
  return undefined;
}
