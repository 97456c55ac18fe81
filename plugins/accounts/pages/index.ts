import type { Server } from '@hapi/hapi';
import { defineTexts } from '#core/web/texts/texts.ts';
import { deletedPage, deletePage } from './delete.ts';
import { ownDataDownload } from './own-data.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export function registerAccountPages({ gateway }: Pick<Server, 'gateway'>): void {
  gateway.texts(defineTexts({ en, id }));
  gateway.page(deletePage);
  gateway.page(deletedPage);
  gateway.page(ownDataDownload);
}
