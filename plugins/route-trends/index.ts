import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readTrendNotes } from './notes.ts';
import { trendPage } from './page.ts';

/** Shows trends of routes from hourly counts. A step down becomes a note on *Routes*. */
export const plugin: GatewayPlugin = {
  name: 'route-trends',
  register({ gateway }) {
    gateway.routeNotes(readTrendNotes);
    gateway.page(trendPage);
  },
};
