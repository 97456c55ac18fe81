import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readTrendNotes } from './notes.ts';
import { trendPage } from './page.ts';

/** Shows route trends from hourly counts, and a note on *Routes* for each route that has got worse. */
export const plugin: GatewayPlugin = {
  name: 'route-trends',
  register({ gateway }) {
    gateway.routeNotes(readTrendNotes);
    gateway.page(trendPage);
  },
};
