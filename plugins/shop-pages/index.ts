import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { shopLinks, shopPage } from './page.ts';
import { draftPages } from './problems.ts';
import { pagesReview } from './review.ts';
import { pagesSection } from './section.ts';

/** The shop's terms, privacy, refund, contact and other pages, from the operator's Markdown files. */
export const plugin: GatewayPlugin = {
  name: 'shop-pages',
  register({ gateway }) {
    gateway.section(pagesSection);
    gateway.page(shopPage);
    gateway.siteLinks(shopLinks);
    gateway.configReview(pagesReview);
    gateway.problem(draftPages);
    gateway.starter({ name: 'pages', write: async (host) => (await import('./starter.ts')).writeDrafts(host) });
  },
};
