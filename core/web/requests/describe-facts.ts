import { resumedNote, truncationMark } from '#core/gateway/model-call/notes-header.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import { defineTexts, type Translate } from '#core/web/texts/texts.ts';
import { findBrowser } from './browsers.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

export const requestTexts = defineTexts({ en, id });

interface RequestFact {
  readonly label: string;
  readonly text: string;
  readonly full?: string; // the full value, if `text` is shortened
  readonly isCode?: boolean;
  readonly isLong?: boolean; // shown below the label
}

type Fact = [name: string, text: string | undefined, more?: Partial<RequestFact>];

/**
 * Describes a request for pages and commands, except for its time, status and attempts. The most useful facts come first; empty ones are
 * omitted.
 *
 * @param isForOperator true to include the canary, which customers must not see
 * @param areRoutesNamed true to include the vendor's model
 * @param hasContent true if prompt and reply are on record; they are not shown (docs/operating/shop.md, "Dashboard")
 */
export function describeRequestFacts(
  record: RequestRecord,
  reader: Localizer,
  { hasContent = false, isForOperator = false, areRoutesNamed = false } = {},
): RequestFact[] {
  const { t } = reader;
  const client = record.user_agent ?? '';
  const facts: Fact[] = [
    ['alias_of', record.alias_of ?? undefined],
    ['format', describeFormat(record, t)],
    ['call', record.format === null ? `${record.method} ${record.path}` : undefined, { isCode: true }],
    ['client', formatClientName(client), { full: client }],
    ['address', record.remote_address ?? undefined],
    ['key', record.key_hint ?? undefined, { isCode: true }],
    ['tokens', describeTokens(record, reader)],
    ['of_which', describeTokenDetails(record, reader)],
    ['size', describeSize(record, reader)],
    ['cache', record.cache === null ? undefined : t(`requests.cache.${record.cache}`)],
    ['queue', describeWait(record, reader)],
    ['answered_model', areRoutesNamed ? describeAnsweredModel(record, t) : undefined],
    ...describeDigests(record, t),
    ['canary', isForOperator ? describeCanary(record, t) : undefined],
    ['ended', describeEnd(record, t)],
    ['error', record.error_message ?? undefined, { isLong: true }],
    ['content', hasContent ? t('requests.content') : undefined, { isLong: true }],
    ...describeNotes(record.notes ?? [], t).map(({ name, text }): Fact => [name, text, { isLong: true }]),
  ];
  return facts.flatMap(([name, text, more]) =>
    text === undefined || text === '' ? [] : [{ label: t(`requests.fact.${name}`), text, ...more }],
  );
}

const formatNames: Readonly<Record<string, string>> = {
  chat: 'Chat Completions',
  responses: 'Responses',
  messages: 'Messages',
  gemini: 'Gemini',
  images: 'Images',
};

function describeFormat({ format, is_stream: isStream }: RequestRecord, t: Localizer['t']): string | undefined {
  if (format === null) return undefined;
  const name = formatNames[format] ?? format;
  return isStream === null ? name : t(isStream ? 'requests.streamed' : 'requests.whole', { format: name });
}

function describeTokens(record: RequestRecord, { t, format }: Localizer): string | undefined {
  const { input_tokens: input, output_tokens: output, usage_estimated: isEstimated } = record;
  const counts = [
    input === null ? '' : t('requests.tokens.in', { tokens: format.number(input) }),
    output === null ? '' : t('requests.tokens.out', { tokens: format.number(output) }),
  ].filter((text) => text !== '');
  if (counts.length === 0) return undefined;
  return isEstimated === true ? t('requests.tokens.estimated', { tokens: counts.join(' · ') }) : counts.join(' · ');
}

function describeTokenDetails(record: RequestRecord, { t, format }: Localizer): string | undefined {
  const parts: [name: string, tokens: number | null][] = [
    ['cache_read', record.cache_read_tokens],
    ['cache_write', record.cache_write_tokens],
    ['reasoning', record.reasoning_tokens],
  ];
  const details = parts.flatMap(([name, tokens]) =>
    tokens === null || tokens === 0 ? [] : [t(`requests.tokens.${name}`, { tokens: format.number(tokens) })],
  );
  return details.length === 0 ? undefined : details.join(' · ');
}

function describeSize(
  { bytes_in: received, bytes_out: sent }: RequestRecord,
  { t, format }: Localizer,
): string | undefined {
  const sizes = [
    received === null ? '' : t('requests.tokens.in', { tokens: format.bytes(received).text }),
    sent === null ? '' : t('requests.tokens.out', { tokens: format.bytes(sent).text }),
  ].filter((text) => text !== '');
  return sizes.length === 0 ? undefined : sizes.join(' · ');
}

function describeWait({ queue_ms: queued }: RequestRecord, { t, format }: Localizer): string | undefined {
  return queued === null ? undefined : t('requests.queue', { time: format.duration(queued).text });
}

function describeCanary({ canary }: RequestRecord, t: Localizer['t']): string | undefined {
  return canary === null ? undefined : t('requests.canary', { number: canary });
}

function describeAnsweredModel(
  { answered_model: model, is_other_model: isOther }: RequestRecord,
  t: Localizer['t'],
): string | undefined {
  if (model === null) return undefined;
  return isOther === true ? t('requests.other_model', { model }) : model;
}

function describeDigests(record: RequestRecord, t: Localizer['t']): Fact[] {
  const { digest_received: received, digest_sent: sent, digest_changes: changes } = record;
  if (received === sent) return [describeDigest('digest', sent)];
  const reasons = (changes ?? []).map((change) => t(`requests.change.${change}`)).join(', ');
  return [describeDigest('digest', sent), describeDigest('digest_received', received), ['digest_changes', reasons]];
}

const maxDigestLength = 16;

function describeDigest(name: string, digest: string | null): Fact {
  return [
    name,
    digest === null ? undefined : `${digest.slice(0, maxDigestLength)}…`,
    { full: digest ?? '', isCode: true },
  ];
}

function describeEnd({ outcome, status }: RequestRecord, t: Localizer['t']): string {
  const isBroken = outcome === 'failed' && status !== null && status < 400;
  return t(`requests.ended.${isBroken ? 'broken' : outcome}`);
}

interface NotesLine {
  readonly name: 'dropped' | 'approximated' | 'note';
  readonly text: string;
}

const verbs = ['dropped', 'approximated'] as const;

/** Names of parameters and features stay as in the API; only the words around them are translated. */
function describeNotes(notes: readonly string[], t: Translate): NotesLine[] {
  const [dropped, approximated] = verbs.map((verb) =>
    notes.filter((note) => note.startsWith(`${verb} `)).map((note) => note.slice(verb.length + 1)),
  );
  const others = notes.filter((note) => !verbs.some((verb) => note.startsWith(`${verb} `)));
  const lines: NotesLine[] = [
    { name: 'dropped', text: (dropped ?? []).join(', ') },
    { name: 'approximated', text: (approximated ?? []).join(', ') },
    { name: 'note', text: others.map((note) => translateNote(note, t)).join(' ') },
  ];
  return lines.filter(({ text }) => text !== '');
}

function translateNote(note: string, t: Translate): string {
  if (note === resumedNote) return t('requests.note.resumed');
  return note === truncationMark ? t('requests.note.more') : note;
}

/** As the OpenAI and Anthropic SDKs send them: `OpenAI/Python 1.54.0`. */
const sdkPattern = /^(\w[\w.-]*)\/(Python|JS|Node|TypeScript|Go|Java|Ruby|PHP|\.NET) (\d[\w.+-]*)/i;
const productPattern = /^([\w@][\w@.-]*)\/v?(\d[\w.+-]*)/;

/**
 * Formats a User-Agent for people: `OpenAI/Python 1.54.0` becomes "OpenAI Python 1.54.0", and `claude-cli/2.1.0 (external)` becomes
 * "claude-cli 2.1.0". Values that are not recognized are returned unchanged.
 */
export function formatClientName(userAgent: string): string {
  if (userAgent.startsWith('Mozilla/')) return formatBrowserName(userAgent) ?? userAgent;
  const [, name, language, version] = sdkPattern.exec(userAgent) ?? [];
  if (name !== undefined) return `${name} ${language} ${version}`;
  const [, program, number] = productPattern.exec(userAgent) ?? [];
  return program === undefined ? userAgent : `${program} ${number}`;
}

function formatBrowserName(userAgent: string): string | undefined {
  const { name, version } = findBrowser(userAgent) ?? {};
  return name === undefined || version === undefined ? name : `${name} ${version}`;
}
