import type { Incident } from '#core/business/model-health/incident.ts';
import type { Translate } from '#core/web/texts/texts.ts';

/** What an incident is, in one sentence without names of vendors: in the present tense while the model is in trouble. */
export function incidentTitle({ model, kind, cause, endedAt, calmSince, quietSince }: Incident, t: Translate): string {
  const isNow = (endedAt ?? calmSince ?? quietSince) === undefined;
  return t(isNow ? `status.now.${kind}.${cause}` : `status.then.${kind}.${cause}`, { model });
}
