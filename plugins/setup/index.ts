import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { createConnectPage } from './connect-page.ts';
import { reviewSetup } from './review.ts';
import { routeScripts } from './script/scripts.ts';
import { setupSection } from './section.ts';
import { tools } from './tools.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** How tools are set up for this gateway. */
export const plugin: GatewayPlugin = {
  name: 'setup',
  register(server) {
    server.gateway.section(setupSection);
    server.gateway.configReview({ name: 'setup', describe: (host) => reviewSetup(host, server.gateway) });
    server.gateway.texts(defineTexts({ en, id }));
    for (const { texts } of tools) if (texts !== undefined) server.gateway.texts(texts);
    server.gateway.assets({ name: 'connect.css', path: viewPath('setup/connect.css') });
    server.gateway.page(createConnectPage(server));
    server.gateway.onConfigured(routeScripts);
  },
};
