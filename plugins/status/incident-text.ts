import type { Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { Translate } from '#core/web/texts/texts.ts';

/** Omits vendor names. Uses the present tense for a current incident. */
export function describeIncidentTitle(
  { model, kind, cause, endedAt, calmSince, quietSince }: Incident,
  t: Translate,
): string {
  const isNow = (endedAt ?? calmSince ?? quietSince) === undefined;
  return t(isNow ? `status.now.${kind}.${cause}` : `status.then.${kind}.${cause}`, { model });
}

export const spanKeys = {
  recovered: 'status.until',
  no_traffic: 'status.quiet',
  removed: 'status.removed',
} as const satisfies Record<ReturnType<typeof outcomeOf>, string>;
