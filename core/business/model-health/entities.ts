import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';
import { troubleCauses } from './trouble.ts';

/** A period in which a model was in trouble, or was suspected to be. */
export const IncidentRow = defineEntity({
  name: 'IncidentRow',
  tableName: 'incident',
  properties: {
    id: p.uuid().primary(),
    /** Public name. */
    model: impersonal(p.text()),
    /** The worst trouble so far. */
    kind: p.enum(['degraded', 'down'] as const),
    cause: p.enum(troubleCauses),
    /** The latest trouble; null if an earlier version wrote the row. */
    latestKind: p.enum(['degraded', 'down'] as const).nullable(),
    latestCause: p.enum(troubleCauses).nullable(),
    failedAt: p.datetime().nullable(),
    /** When a route last responded since the incident began. */
    servedAt: p.datetime().nullable(),
    quietSince: p.datetime().nullable(),
    lowestAnswered: p.float().nullable(), // 0 to 1
    startedAt: p.datetime(),
    /** Null while the incident is only suspected. Suspected incidents are not shown. */
    openedAt: p.datetime().nullable(),
    /** When the trouble stopped; null while it lasts, and once the incident is over. */
    calmSince: p.datetime().nullable(),
    checkedAt: p.datetime(),
    endedAt: p.datetime().nullable(),
    /** True if it ended because the model was removed from the catalog. */
    isRemoved: p.boolean().default(false),
    /** Time by which a probe had failed on every route of the model; null if that never happened. */
    confirmedAt: p.datetime().nullable(),
  },
  indexes: [{ name: 'incident_started', expression: 'create index incident_started on incident (started_at desc)' }],
  // At most one per model at any time, across all instances.
  uniques: [{ name: 'incident_current', properties: 'model', where: 'ended_at is null' }],
  checks: [{ name: 'incident_check', expression: 'ended_at >= started_at' }],
});
