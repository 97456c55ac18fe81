import type { Server } from '@hapi/hapi';
import { defineTexts } from '#core/web/texts/texts.ts';
import { viewPath } from '#core/web/pages/views.ts';
import { tokenRoute } from './token-route.ts';
import { createTryPage } from './try-page.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** A model to try in the browser. */
export function register(server: Server): void {
  const { gateway } = server;
  gateway.texts(defineTexts({ en, id }));
  for (const name of ['try.css', 'try-api.js', 'try.js'])
    gateway.assets({ name, path: viewPath(`dashboard/try/${name}`) });
  gateway.page(createTryPage(server));
  server.route(tokenRoute(server));
}
