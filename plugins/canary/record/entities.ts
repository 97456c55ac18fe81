import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';
import { type CanaryCounts, canaryOutcomes, canaryVerdicts } from './canary-counts.ts';

/** A configuration that serves, or has served, a share of the accounts. */
export const ConfigurationCanary = defineEntity({
  name: 'ConfigurationCanary',
  properties: {
    id: p.integer().primary().autoincrement(false),
    baseDigest: impersonal(p.text()),
    /** Text of the configuration, as in `ServedConfiguration`. */
    text: impersonal(p.text()),
    digest: impersonal(p.text()),
    salt: impersonal(p.text()),
    share: p.double(),
    operator: impersonal(p.text()),
    note: impersonal(p.text().nullable()),
    startedAt: p.datetime().defaultRaw('clock_timestamp()'),
    until: p.datetime(),
    looks: p.integer().default(0),
    lateLooks: p.integer().default(0),
    nextLook: p.integer(),
    /** Earliest time at which an instance may evaluate the canary. */
    judgeAfter: p.datetime().defaultRaw('clock_timestamp()'),
    counts: impersonal(p.json<CanaryCounts>().nullable()),
    verdict: p.enum(canaryVerdicts).nullable(),
    endedAt: p.datetime().nullable(),
    outcome: p.enum(canaryOutcomes).nullable(),
    reason: impersonal(p.text().nullable()),
  },
  indexes: [
    {
      name: 'configuration_canary_running',
      expression:
        'create unique index configuration_canary_running on configuration_canary ((true)) where ended_at is null',
    },
  ],
});
