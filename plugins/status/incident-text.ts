import type { Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { Translate } from '#core/web/texts/texts.ts';

/** An incident in one sentence without names of vendors: in the present tense while the model is in trouble. */
export function incidentTitle({ model, kind, cause, endedAt, calmSince, quietSince }: Incident, t: Translate): string {
  const isNow = (endedAt ?? calmSince ?? quietSince) === undefined;
  return t(isNow ? `status.now.${kind}.${cause}` : `status.then.${kind}.${cause}`, { model });
}

/** The text of the span of an incident that is over, which tells how it has ended. */
export const spanKeys = {
  recovered: 'status.until',
  no_traffic: 'status.quiet',
  removed: 'status.removed',
} as const satisfies Record<ReturnType<typeof outcomeOf>, string>;
