import { endTimeOf, type Incident, outcomeOf } from '#core/business/model-health/incident.ts';
import type { Translate } from '#core/web/texts/texts.ts';
import { describeIncidentTitle, spanKeys } from './incident-text.ts';

interface FeedSource {
  readonly service: string;
  readonly baseUrl: string; // public, without a trailing slash
  readonly language: string;
  readonly t: Translate;
  readonly incidents: readonly Incident[]; // newest first
  readonly at: Date;
}

const maxFeedEntries = 50;

/** RFC 4287. Each incident has one entry, which is updated when the incident ends. */
export function renderAtom({ service, baseUrl, language, t, incidents, at }: FeedSource): string {
  const page = `${baseUrl}/status`;
  const entries = incidents.slice(0, maxFeedEntries);
  // A feed without entries changes only once a day, so feed readers need not download it again.
  const updated = Math.max(...entries.map(getUpdateTime), entries.length > 0 ? 0 : startOfDay(at));
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language}">`,
    `<id>${escapeXml(page)}</id>`,
    `<title>${escapeXml(t('status.feed.name', { service }))}</title>`,
    `<updated>${formatTime(updated)}</updated>`,
    `<author><name>${escapeXml(service)}</name></author>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(page)}"/>`,
    `<link rel="self" type="application/atom+xml" href="${escapeXml(`${page}.atom?language=${language}`)}"/>`,
    ...entries.map((incident) => renderEntry(incident, page, t)),
    '</feed>',
    '',
  ].join('\n');
}

function renderEntry(incident: Incident, page: string, t: Translate): string {
  const { id, startedAt } = incident;
  return [
    '<entry>',
    `<id>urn:uuid:${id}</id>`,
    `<title>${escapeXml(describeIncidentTitle(incident, t))}</title>`,
    `<published>${formatTime(startedAt)}</published>`,
    `<updated>${formatTime(getUpdateTime(incident))}</updated>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(`${page}#incident-${id}`)}"/>`,
    `<content type="text">${escapeXml(describeContent(incident, t))}</content>`,
    '</entry>',
  ].join('\n');
}

/** Times are in UTC, because a feed reader's time zone is unknown. */
function describeContent(incident: Incident, t: Translate): string {
  const { startedAt, lowestAnswered } = incident;
  const endedAt = endTimeOf(incident);
  const lowest =
    lowestAnswered === undefined ? '' : ` ${t('status.lowest', { share: `${Math.floor(lowestAnswered * 100)}%` })}`;
  if (endedAt === undefined) return t('status.since', { time: formatClock(startedAt) }) + lowest;
  const minutes = Math.max(1, Math.round((endedAt - startedAt) / 60_000));
  const span = { start: formatClock(startedAt), end: formatClock(endedAt), duration: `${minutes} min` };
  return `${t(spanKeys[outcomeOf(incident)], span)}.${lowest}`;
}

function getUpdateTime({ startedAt, openedAt, quietSince, endedAt }: Incident): number {
  return endedAt ?? quietSince ?? openedAt ?? startedAt;
}

function formatTime(time: number): string {
  return new Date(time).toISOString();
}

function formatClock(time: number): string {
  return `${formatTime(time).slice(0, 16).replace('T', ' ')} UTC`;
}

const xmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeXml(text: string): string {
  // XML 1.0 does not allow control characters, not even escaped.
  return text.replaceAll(/(?![\t\n\r])\p{Cc}/gu, '').replaceAll(/[&<>"]/g, (character) => xmlEntities[character] ?? '');
}

function startOfDay(time: Date): number {
  return Math.floor(time.getTime() / 86_400_000) * 86_400_000;
}
