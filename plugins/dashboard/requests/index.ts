import type { Server } from '@hapi/hapi';
import type { Page } from '#core/web/pages/page.ts';
import { requestTexts } from '#core/web/requests/describe-facts.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { detailPages } from './detail-page.ts';
import { createRequestEndpoint } from './endpoint.ts';
import { exportPages } from './export/export-pages.ts';
import { listPage, operatorListPage } from './list-page.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

const pages: readonly Page[] = [listPage, operatorListPage, ...detailPages, ...exportPages];

export function register(server: Server): void {
  const { gateway } = server;
  gateway.endpoint(createRequestEndpoint(() => server.host()));
  gateway.texts(requestTexts);
  gateway.texts(defineTexts({ en, id }));
  for (const page of pages) gateway.page(page);
}
