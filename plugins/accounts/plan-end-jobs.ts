import { findDuePlanEnds, recordPlanEnd } from '#core/business/accounts/plan-end.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';

/** Seconds between two sweeps. */
const interval = 60;
/** Seconds ahead for which a sweep enqueues jobs, so that each end is reported on time. */
const ahead = 2 * interval;
/** Seconds after the due time at which a job runs: the clocks of queue and database may run at different speeds. */
const margin = 0.1;

/** At the end of a plan, and 24 hours before it. */
export const planEndJob: JobDefinition<{ accountId: string }> = {
  name: 'plan-end',
  description: 'Records that the plan of an account has ended, or ends within 24 hours.',
  data: {
    type: 'object',
    properties: { accountId: { type: 'string' } },
    required: ['accountId'],
    additionalProperties: false,
  },
  async run({ accountId }, host) {
    await recordPlanEnd(host.database, accountId);
  },
};

/** Enqueues what is due soon, and does what should have been done: a wiped queue costs a minute. */
export const planEndSweep: JobDefinition = {
  name: 'plan-end-sweep',
  description: 'Finds plans that have ended, or end within 24 hours.',
  schedule: { every: interval },
  attempts: 1,
  async run(_data, host) {
    for (const { accountId, id, dueIn } of await findDuePlanEnds(host.database, ahead)) {
      if (dueIn <= 0) await recordPlanEnd(host.database, accountId);
      else await host.jobs.add('plan-end', { accountId }, { id, delay: dueIn + margin });
    }
  },
};
