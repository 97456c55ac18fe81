import { defineEntity, p } from '@mikro-orm/core';
import { impersonal } from '#core/platform/database/personal.ts';

/** Operators' messages to customers, in addition to `announcements` in gateway.yaml. */
export const AnnouncementRow = defineEntity({
  name: 'AnnouncementRow',
  tableName: 'announcement',
  properties: {
    id: p.uuid().primary(),
    kind: p.enum(['maintenance', 'note'] as const),
    audience: p.enum(['all', 'customers'] as const),
    /** Public name of the model; null if it concerns the whole service. */
    model: impersonal(p.text().nullable()),
    textEn: impersonal(p.text()),
    textId: impersonal(p.text()),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    createdBy: impersonal(p.text()),
    createdAt: p.datetime().defaultRaw('clock_timestamp()'),
    /** When an operator ended it early; null if no operator did. */
    endedAt: p.datetime().nullable(),
  },
  indexes: [{ name: 'announcement_open', properties: 'endsAt', where: 'ended_at is null' }],
  checks: [{ name: 'announcement_span_check', expression: 'starts_at < ends_at' }],
});
