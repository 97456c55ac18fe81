import { endOf, type Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { Translate } from '#core/web/texts/texts.ts';
import { incidentTitle, spanKeys } from './incident-text.ts';

/** Content of an incident feed. */
interface FeedSource {
  readonly service: string;
  /** Public URL of the gateway, without a trailing slash. */
  readonly baseUrl: string;
  readonly language: string;
  readonly t: Translate;
  /** Incidents, newest first. */
  readonly incidents: readonly Incident[];
  readonly at: Date;
}

/** Maximum entries of a feed. */
const maxFeedEntries = 50;

/** Returns `/status.atom` (RFC 4287): one entry per incident, updated when the incident ends. */
export function toAtom({ service, baseUrl, language, t, incidents, at }: FeedSource): string {
  const page = `${baseUrl}/status`;
  const entries = incidents.slice(0, maxFeedEntries);
  // Without entries the feed changes at most once a day, so feed readers need not download it again.
  const updated = Math.max(...entries.map(updatedAt), entries.length > 0 ? 0 : startOfDay(at));
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language}">`,
    `<id>${escape(page)}</id>`,
    `<title>${escape(t('status.feed.name', { service }))}</title>`,
    `<updated>${timeOf(updated)}</updated>`,
    `<author><name>${escape(service)}</name></author>`,
    `<link rel="alternate" type="text/html" href="${escape(page)}"/>`,
    `<link rel="self" type="application/atom+xml" href="${escape(`${page}.atom?language=${language}`)}"/>`,
    ...entries.map((incident) => toEntry(incident, page, t)),
    '</feed>',
    '',
  ].join('\n');
}

function toEntry(incident: Incident, page: string, t: Translate): string {
  const { id, startedAt } = incident;
  return [
    '<entry>',
    `<id>urn:uuid:${id}</id>`,
    `<title>${escape(incidentTitle(incident, t))}</title>`,
    `<published>${timeOf(startedAt)}</published>`,
    `<updated>${timeOf(updatedAt(incident))}</updated>`,
    `<link rel="alternate" type="text/html" href="${escape(`${page}#incident-${id}`)}"/>`,
    `<content type="text">${escape(describe(incident, t))}</content>`,
    '</entry>',
  ].join('\n');
}

/** Times are in UTC, because the time zone of a feed reader is unknown. */
function describe(incident: Incident, t: Translate): string {
  const { startedAt, lowestAnswered } = incident;
  const endedAt = endOf(incident);
  const lowest =
    lowestAnswered === undefined ? '' : ` ${t('status.lowest', { share: `${Math.floor(lowestAnswered * 100)}%` })}`;
  if (endedAt === undefined) return t('status.since', { time: clockOf(startedAt) }) + lowest;
  const minutes = Math.max(1, Math.round((endedAt - startedAt) / 60_000));
  const span = { start: clockOf(startedAt), end: clockOf(endedAt), duration: `${minutes} min` };
  return `${t(spanKeys[outcomeOf(incident)], span)}.${lowest}`;
}

/** Time of an entry's latest change: the end of the incident, or its start. */
function updatedAt({ startedAt, openedAt, quietSince, endedAt }: Incident): number {
  return endedAt ?? quietSince ?? openedAt ?? startedAt;
}

function timeOf(time: number): string {
  return new Date(time).toISOString();
}

/** `2026-11-22 13:58 UTC`. */
function clockOf(time: number): string {
  return `${timeOf(time).slice(0, 16).replace('T', ' ')} UTC`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escape(text: string): string {
  // Control characters are not allowed in XML 1.0, not even escaped.
  return text.replaceAll(/(?![\t\n\r])\p{Cc}/gu, '').replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? '');
}

function startOfDay(time: Date): number {
  return Math.floor(time.getTime() / 86_400_000) * 86_400_000;
}
