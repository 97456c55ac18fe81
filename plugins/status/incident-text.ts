import type { Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { Translate } from '#core/web/texts/texts.ts';

/** Describes an incident in one sentence, without vendor names. The sentence is in the present tense if the incident is current. */
export function describeIncidentTitle(
  { model, kind, cause, endedAt, calmSince, quietSince }: Incident,
  t: Translate,
): string {
  const isNow = (endedAt ?? calmSince ?? quietSince) === undefined;
  return t(isNow ? `status.now.${kind}.${cause}` : `status.then.${kind}.${cause}`, { model });
}

/** Text keys for the time span of a past incident, by its outcome. */
export const spanKeys = {
  recovered: 'status.until',
  no_traffic: 'status.quiet',
  removed: 'status.removed',
} as const satisfies Record<ReturnType<typeof outcomeOf>, string>;
