import type { Server } from '@hapi/hapi';
import { defineTexts } from '#core/pages/texts.ts';
import { deletedPage, deletePage } from './delete.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** How owners end their account. */
export function addAccountPages({ gateway }: Pick<Server, 'gateway'>): void {
  gateway.texts(defineTexts({ en, id }));
  gateway.page(deletePage);
  gateway.page(deletedPage);
}
