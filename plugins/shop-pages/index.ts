import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { shopLinks, shopPage } from './page.ts';
import { draftPages } from './problems.ts';
import { pagesReview } from './review.ts';
import { pagesSection } from './section.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Terms, privacy, refunds, contact and other pages of the shop, from the operator's Markdown files. */
export const plugin: GatewayPlugin = {
  name: 'shop-pages',
  register({ gateway }) {
    gateway.section(pagesSection);
    gateway.texts(defineTexts({ en, id }));
    gateway.page(shopPage);
    gateway.siteLinks(shopLinks);
    gateway.configReview(pagesReview);
    gateway.problem(draftPages);
    gateway.starter({ name: 'pages', write: async (host) => (await import('./starter.ts')).writeDrafts(host) });
  },
};
