import { join } from 'node:path';
import type { Server } from '@hapi/hapi';
import type { Page } from '#core/web/pages/page.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { detailPage, openRow } from './detail-page.ts';
import { exportPages } from './export/export-pages.ts';
import { listPage } from './list-page.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const views = join(import.meta.dirname, '..', '..', '..', 'views');

export const pages: readonly Page[] = [listPage, detailPage, openRow, ...exportPages];

/** Every request of the account. */
export function register({ gateway }: Server): void {
  gateway.texts(defineTexts({ en, id }));
  gateway.assets({ name: 'requests.css', path: join(views, 'requests.css') });
  gateway.assets({ name: 'requests.js', path: join(views, 'requests.js') });
  for (const page of pages) gateway.page(page);
}
