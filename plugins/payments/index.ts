import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { defaultProvider, paymentsSection } from '#core/payments/section.ts';
import { ordersCommand } from './orders/command.ts';
import { addPages } from './pages/index.ts';
import { notificationRoute } from './hooks.ts';
import { paymentJobs } from './jobs.ts';
import { addSandbox } from './sandbox/index.ts';

/** Sells plans: takes orders and follows their payments. */
export const plugin: GatewayPlugin = {
  name: 'payments',
  register(server) {
    const { gateway } = server;
    gateway.section(paymentsSection);
    gateway.configReview({
      name: 'payments',
      describe: ({ section, isProduction }) => ({
        value:
          section(paymentsSection).provider ?? (isProduction ? 'none' : `${defaultProvider}, which moves no money`),
      }),
    });
    addPages({ gateway });
    gateway.command(ordersCommand);
    for (const job of paymentJobs) gateway.job(job);
    server.route(notificationRoute(() => server.host()));
    addSandbox(server);
  },
};
