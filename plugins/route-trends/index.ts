import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { readTrendNotes } from './notes.ts';
import { trendPage } from './page.ts';

/** Shows how routes develop, from hourly counts. If a route gets worse, a note on *Routes* says so. */
export const plugin: GatewayPlugin = {
  name: 'route-trends',
  register({ gateway }) {
    gateway.routeNotes(readTrendNotes);
    gateway.page(trendPage);
  },
};
