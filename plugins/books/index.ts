import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { reconcileAction } from './actions.ts';
import { defineBooks } from './command.ts';
import { booksFile, monthPage } from './files.ts';
import { reconcileJob } from './job.ts';
import { booksPage } from './page.ts';

/** Compares our payments and refunds with the providers' books, by job, page, command and API, and exports them as files. */
export const plugin: GatewayPlugin = {
  name: 'books',
  register({ gateway }) {
    gateway.action(reconcileAction);
    gateway.job(reconcileJob);
    for (const page of [booksPage, booksFile, monthPage]) gateway.page(page);
    gateway.subcommands('orders', defineBooks);
  },
};
