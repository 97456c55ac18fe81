import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defineTexts } from '#core/web/texts/texts.ts';
import { reconcileAction } from './actions.ts';
import { defineBooks } from './command.ts';
import { booksFile, monthPage } from './files.ts';
import { reconcileJob } from './job.ts';
import { booksPage } from './page.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Compares recorded movements with providers' movements by job, page, command and API, and exports them as files. */
export const plugin: GatewayPlugin = {
  name: 'books',
  register({ gateway }) {
    gateway.texts(defineTexts({ en, id }));
    gateway.action(reconcileAction);
    gateway.job(reconcileJob);
    for (const page of [booksPage, booksFile, monthPage]) gateway.page(page);
    gateway.subcommands('orders', defineBooks);
  },
};
