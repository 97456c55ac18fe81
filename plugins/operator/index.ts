import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { createAccountPage } from './accounts/account-page.ts';
import { heaviestPage } from './accounts/heaviest-page.ts';
import { createAccountsPage } from './accounts/list-page.ts';
import { actPages } from './act-pages.ts';
import { operatorActionsSection, actionRetentionJob } from './actions-section.ts';
import { createConfigurationsPage } from './configuration/list-page.ts';
import { configurationPage } from './configuration/rollback-page.ts';
import { flagsPage } from './flags/list-page.ts';
import { resolvePage } from './flags/resolve-page.ts';
import { createHealthPage } from './health/page.ts';
import { createOrdersPage } from './orders/list-page.ts';
import { orderPage } from './orders/order-page.ts';
import { refundPage } from './orders/refund-page.ts';
import { createKeyProblems } from './overview/key-problems.ts';
import { createOverviewPage } from './overview/page.ts';
import { unfinishedActions } from './overview/unfinished-problems.ts';
import { createRoutesPage } from './routes/page.ts';

/** Pages for the accounts listed as `operators` in gateway.yaml. */
export const plugin: GatewayPlugin = {
  name: 'operator',
  register(server) {
    const { gateway } = server;
    gateway.section(operatorActionsSection);
    gateway.job(actionRetentionJob);
    const pages = [
      createOverviewPage(gateway),
      flagsPage,
      resolvePage,
      createOrdersPage(gateway),
      orderPage,
      refundPage,
      createAccountsPage(gateway),
      createAccountPage(gateway),
      heaviestPage,
      createConfigurationsPage(gateway),
      configurationPage,
      ...actPages,
      createRoutesPage(gateway),
      createHealthPage(gateway),
    ];
    for (const page of pages) gateway.page(page);
    for (const kind of [createKeyProblems(gateway), unfinishedActions]) gateway.problem(kind);
  },
};
