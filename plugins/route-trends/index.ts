import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { readTrendNotes } from './notes.ts';
import { trendPage } from './page.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Shows trends of routes from hourly counts. A step down becomes a note on *Routes*. */
export const plugin: GatewayPlugin = {
  name: 'route-trends',
  register({ gateway }) {
    gateway.texts(defineTexts({ en, id }));
    gateway.routeNotes(readTrendNotes);
    gateway.page(trendPage);
  },
};
