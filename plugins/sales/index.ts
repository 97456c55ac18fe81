import { placeSteps } from '#core/business/payments/places.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { salesCommand } from './command.ts';
import { salesJobs } from './jobs.ts';
import { placeMail } from './mail.ts';
import { waitNotices } from './notices.ts';
import { salesPage } from './page.ts';
import { salesReading } from './reading.ts';
import { salesGauges } from './sales-figures.ts';
import { salesSection } from './section.ts';
import { readWaitTimeline } from './timeline.ts';

/** Limits how many passes may be active at a time, and keeps a waiting list. */
export const plugin: GatewayPlugin = {
  name: 'sales',
  register({ gateway }) {
    gateway.section(salesSection);
    gateway.tables({
      name: 'sales',
      entities: async () => Object.values(await import('./entities.ts')),
      steps: placeSteps.createRegistration(() => import('./steps.ts')),
    });
    for (const job of salesJobs) gateway.job(job);
    gateway.mail(placeMail);
    gateway.notices(waitNotices);
    gateway.story(readWaitTimeline);
    gateway.page(salesPage);
    gateway.operatorReading(salesReading);
    gateway.command(salesCommand);
    for (const gauge of salesGauges) gateway.gauge(gauge);
  },
};
