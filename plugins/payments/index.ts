import { getConfiguredProviderName } from '#core/business/payments/connections.ts';
import { paymentGauges } from '#core/business/payments/payment-figures.ts';
import { findIneffectiveOptions, paymentsSection } from '#core/business/payments/section.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { moneyProblems } from '#core/web/problems/money-problems.ts';
import { openFlags, orders } from '#core/web/resources/orders.ts';
import { createPaymentDiagnosis } from './diagnosis.ts';
import { createNotificationRoute } from './hooks.ts';
import { paymentJobs } from './jobs.ts';
import { orderReading, ordersCommand } from './orders/command.ts';
import { registerPages } from './pages/index.ts';
import { plansReading } from './plans-reading.ts';
import { registerSandbox } from './sandbox/index.ts';

const noProviderNotice =
  'nobody can buy a plan: payments.provider is not set, and NODE_ENV is production; set it to midtrans or xendit, or to none';

/** Sells plans: takes orders and follows their payments. */
export const plugin: GatewayPlugin = {
  name: 'payments',
  register(server) {
    const { gateway } = server;
    gateway.section(paymentsSection);
    gateway.configReview({
      name: 'payments',
      describe: (host) => {
        const name = getConfiguredProviderName(host);
        // An explicit `none` is deliberate, so it causes no notice.
        if (name === undefined && host.section(paymentsSection).provider === 'none') return { value: 'none' };
        if (name === undefined) return { value: 'none', notice: noProviderNotice };
        const isSandbox = gateway.paymentProviders.get(name)?.isSandbox === true;
        return {
          value: isSandbox ? `${name}, which moves no money` : name,
          notice: findIneffectiveOptions(host, gateway.databaseTables),
        };
      },
    });
    registerPages({ gateway });
    gateway.command(ordersCommand);
    for (const resource of [orders, openFlags]) gateway.resource(resource);
    for (const reading of [orderReading, plansReading]) gateway.operatorReading(reading);
    for (const job of paymentJobs) gateway.job(job);
    gateway.diagnosis(createPaymentDiagnosis(gateway));
    for (const kind of moneyProblems) gateway.problem(kind);
    for (const gauge of paymentGauges) gateway.gauge(gauge);
    server.route(createNotificationRoute(() => server.host()));
    registerSandbox(server);
  },
};
