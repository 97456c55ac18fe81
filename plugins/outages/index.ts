import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { creditAction, declineAction, grantAction } from './actions.ts';
import { defineOutageCredit, defineOutageGrant } from './command.ts';
import { creditJob, outageGauges } from './jobs.ts';
import { creditMail } from './mail.ts';
import { creditNotices } from './notices.ts';
import { declinePage, outagePage } from './page.ts';
import { waitingOutages } from './problems.ts';
import { affectedReading } from './readings.ts';
import { outages } from './resource.ts';
import { outagesSection } from './section.ts';
import { readCredits } from './status-credits.ts';

/** Credits customers for models that were down, and lets operators grant days for outages. */
export const plugin: GatewayPlugin = {
  name: 'outages',
  register({ gateway }) {
    gateway.section(outagesSection);
    gateway.tables({ name: 'outage', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.job(creditJob);
    gateway.mail(creditMail);
    gateway.notices(creditNotices);
    gateway.credits(readCredits);
    gateway.problem(waitingOutages);
    for (const action of [grantAction, creditAction, declineAction]) gateway.action(action);
    for (const page of [outagePage, declinePage]) gateway.page(page);
    gateway.operatorReading(affectedReading);
    gateway.resource(outages);
    for (const define of [defineOutageGrant, defineOutageCredit]) gateway.subcommands('account', define);
    for (const gauge of outageGauges) gateway.gauge(gauge);
  },
};
