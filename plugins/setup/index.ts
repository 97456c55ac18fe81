import { readAbilities } from '#core/config/catalog/abilities.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { createConnectPage } from './connect-page.ts';
import { type AbilitySource, type CatalogHost, readDefaults, findModel } from './defaults.ts';
import { routeScripts } from './script/scripts.ts';
import { listNamedModels, setupSection } from './section.ts';
import { scriptedFormats, collectTexts, tools } from './tools.ts';

/** Sets up coding tools for this gateway, through a page and scripts. */
export const plugin: GatewayPlugin = {
  name: 'setup',
  register(server) {
    server.gateway.section(setupSection);
    server.gateway.configReview({ name: 'setup', describe: (host) => reviewSetup(host, server.gateway) });
    for (const tool of tools) server.gateway.texts(collectTexts(tool));
    server.gateway.page(createConnectPage(server));
    server.gateway.onConfigured(routeScripts);
  },
};

/** What `daypass check` reports about the section. */
export function reviewSetup(host: CatalogHost, registry: AbilitySource): { value: string; notice: string[] } {
  const models = scriptedFormats.flatMap((format) => readDefaults(format, host, registry)?.model.name ?? []);
  return {
    value: models.length === 0 ? 'no model for tools' : [...new Set(models)].join(', '),
    notice: listNamedModels(host.section(setupSection)).flatMap(({ path, name }) => {
      const reason = explainUnusedModel(name, host, registry);
      return reason === undefined ? [] : [`${path.join('.')} "${name}" is not used: ${reason}`];
    }),
  };
}

function explainUnusedModel(name: string, host: CatalogHost, registry: AbilitySource): string | undefined {
  const found = findModel(name, host);
  // A valid configuration names only models and aliases that exist.
  if (found === undefined) return 'all upstreams of the model are off';
  if (readAbilities(registry, found.model).conversations.length === 0)
    return 'the model does not support conversations';
  return undefined;
}
