import type { PageRequest } from '#core/web/pages/page.ts';
import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { defineTexts, type Translate } from '#core/web/texts/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import id from './texts/id.json' with { type: 'json' };

/** Of pages, which register them, and of commands in English. */
export const requestTexts = defineTexts({ en, id });

interface RequestFact {
  readonly label: string;
  readonly text: string;
  /** The whole value, where `text` is a short form of it. */
  readonly full?: string;
  readonly isCode?: boolean;
  /** Long texts stand below their label. */
  readonly isLong?: boolean;
}

type Reader = Pick<PageRequest, 't' | 'format'>;
type Fact = [name: string, text: string | undefined, more?: Partial<RequestFact>];

/**
 * Describes facts about a request on pages and in commands, in addition to its time, status and attempts, in the order in which people look
 * for them. Empty facts are left out.
 *
 * @param isForOperator customers learn nothing of how the service is changed
 * @param areRoutesNamed whether the reader may know models of vendors
 * @param hasContent whether prompt and reply are on record too; they are not shown (docs/operating/shop.md, "Dashboard")
 */
export function describeFacts(
  record: RequestRecord,
  reader: Reader,
  { hasContent = false, isForOperator = false, areRoutesNamed = false } = {},
): RequestFact[] {
  const { t } = reader;
  const client = record.user_agent ?? '';
  const facts: Fact[] = [
    ['alias_of', record.alias_of ?? undefined],
    ['format', formatOf(record, t)],
    ['call', record.format === null ? `${record.method} ${record.path}` : undefined, { isCode: true }],
    ['client', clientName(client), { full: client }],
    ['address', record.remote_address ?? undefined],
    ['key', record.key_hint ?? undefined, { isCode: true }],
    ['tokens', tokensOf(record, reader)],
    ['of_which', detailsOfTokens(record, reader)],
    ['size', sizeOf(record, reader)],
    ['cache', record.cache === null ? undefined : t(`requests.cache.${record.cache}`)],
    ['queue', waitOf(record, reader)],
    ['answered_model', areRoutesNamed ? answeredModelOf(record, t) : undefined],
    ...digestsOf(record, t),
    ['canary', isForOperator ? canaryOf(record, t) : undefined],
    ['ended', endOf(record, t)],
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

/** "Responses, streamed". */
function formatOf({ format, is_stream: isStream }: RequestRecord, t: Reader['t']): string | undefined {
  if (format === null) return undefined;
  const name = formatNames[format] ?? format;
  return isStream === null ? name : t(isStream ? 'requests.streamed' : 'requests.whole', { format: name });
}

/** "1,284 in · 402 out", and that they were estimated. */
function tokensOf(record: RequestRecord, { t, format }: Reader): string | undefined {
  const { input_tokens: input, output_tokens: output, usage_estimated: isEstimated } = record;
  const counts = [
    input === null ? '' : t('requests.tokens.in', { tokens: format.number(input) }),
    output === null ? '' : t('requests.tokens.out', { tokens: format.number(output) }),
  ].filter((text) => text !== '');
  if (counts.length === 0) return undefined;
  return isEstimated === true ? t('requests.tokens.estimated', { tokens: counts.join(' · ') }) : counts.join(' · ');
}

/** "1,024 from prompt cache · 128 reasoning": parts of the tokens in and out. */
function detailsOfTokens(record: RequestRecord, { t, format }: Reader): string | undefined {
  const parts: [name: string, tokens: number | null][] = [
    ['cache_read', record.cache_read_tokens],
    ['cache_write', record.cache_write_tokens],
    ['reasoning', record.reasoning_tokens],
  ];
  const known = parts.flatMap(([name, tokens]) =>
    tokens === null || tokens === 0 ? [] : [t(`requests.tokens.${name}`, { tokens: format.number(tokens) })],
  );
  return known.length === 0 ? undefined : known.join(' · ');
}

/** "34 kB in · 8.1 kB out". */
function sizeOf({ bytes_in: received, bytes_out: sent }: RequestRecord, { t, format }: Reader): string | undefined {
  const sizes = [
    received === null ? '' : t('requests.tokens.in', { tokens: format.bytes(received).text }),
    sent === null ? '' : t('requests.tokens.out', { tokens: format.bytes(sent).text }),
  ].filter((text) => text !== '');
  return sizes.length === 0 ? undefined : sizes.join(' · ');
}

/** "waited 2.1 s for a free slot". */
function waitOf({ queue_ms: queued }: RequestRecord, { t, format }: Reader): string | undefined {
  return queued === null ? undefined : t('requests.queue', { time: format.duration(queued).text });
}

/** "canary 3": whose configuration served it, where another one served the other accounts. */
function canaryOf({ canary }: RequestRecord, t: Reader['t']): string | undefined {
  return canary === null ? undefined : t('requests.canary', { number: canary });
}

/** The model that the vendor's answer names; that it is another one, if so. */
function answeredModelOf(
  { answered_model: model, is_other_model: isOther }: RequestRecord,
  t: Reader['t'],
): string | undefined {
  if (model === null) return undefined;
  return isOther === true ? t('requests.other_model', { model }) : model;
}

/** One digest, or both and why they differ. */
function digestsOf(record: RequestRecord, t: Reader['t']): Fact[] {
  const { digest_received: received, digest_sent: sent, digest_changes: changes } = record;
  if (received === sent) return [digestFact('digest', sent)];
  const reasons = (changes ?? []).map((change) => t(`requests.change.${change}`)).join(', ');
  return [digestFact('digest', sent), digestFact('digest_received', received), ['digest_changes', reasons]];
}

const shownDigits = 16;

function digestFact(name: string, digest: string | null): Fact {
  return [name, digest === null ? undefined : `${digest.slice(0, shownDigits)}…`, { full: digest ?? '', isCode: true }];
}

function endOf({ outcome, status }: RequestRecord, t: Reader['t']): string {
  const isBroken = outcome === 'failed' && status !== null && status < 400;
  return t(`requests.ended.${isBroken ? 'broken' : outcome}`);
}

/** Notes of one kind, in one line. */
interface NotesLine {
  readonly name: 'dropped' | 'approximated' | 'note';
  readonly text: string;
}

const verbs = ['dropped', 'approximated'] as const;
/** As `core/gateway/model-call/notes-header.ts` ends a list that is too long. */
const more = '...';
/** As `plugins/upstream` notes it. */
const resumed = 'resumed on another route after the first was interrupted';

/**
 * Notes of translations, grouped: dropped parameters, approximated ones, and the rest. Notes name
 * parameters and features in English, as they are called in the API; only the words around them are translated.
 */
function describeNotes(notes: readonly string[], t: Translate): NotesLine[] {
  const [dropped, approximated] = verbs.map((verb) =>
    notes.filter((note) => note.startsWith(`${verb} `)).map((note) => note.slice(verb.length + 1)),
  );
  const others = notes.filter((note) => !verbs.some((verb) => note.startsWith(`${verb} `)));
  const lines: NotesLine[] = [
    { name: 'dropped', text: (dropped ?? []).join(', ') },
    { name: 'approximated', text: (approximated ?? []).join(', ') },
    { name: 'note', text: others.map((note) => wordsOf(note, t)).join(' ') },
  ];
  return lines.filter(({ text }) => text !== '');
}

function wordsOf(note: string, t: Translate): string {
  if (note === resumed) return t('requests.note.resumed');
  return note === more ? t('requests.note.more') : note;
}

/** A program in front of its language, as the SDKs of OpenAI and Anthropic write it: `OpenAI/Python 1.54.0`. */
const sdk = /^(\w[\w.-]*)\/(Python|JS|Node|TypeScript|Go|Java|Ruby|PHP|\.NET) (\d[\w.+-]*)/i;
const product = /^([\w@][\w@.-]*)\/v?(\d[\w.+-]*)/;
/** By the products in the User-Agent of a browser, the specific ones first, because all others name Chrome or Safari too. */
const browsers = { Firefox: 'Firefox', Edg: 'Edge', OPR: 'Opera', Chrome: 'Chrome', Version: 'Safari' } as const;

/**
 * Returns a User-Agent as people know the program: `OpenAI/Python 1.54.0` is "OpenAI Python 1.54.0", `claude-cli/2.1.0 (external)`
 * is "claude-cli 2.1.0". Unrecognized names are returned unchanged.
 */
export function clientName(userAgent: string): string {
  if (userAgent.startsWith('Mozilla/')) return browserName(userAgent) ?? userAgent;
  const [, name, language, version] = sdk.exec(userAgent) ?? [];
  if (name !== undefined) return `${name} ${language} ${version}`;
  const [, program, number] = product.exec(userAgent) ?? [];
  return program === undefined ? userAgent : `${program} ${number}`;
}

function browserName(userAgent: string): string | undefined {
  for (const [sign, name] of Object.entries(browsers)) {
    const version = new RegExp(`\\b${sign}/(\\d+)`).exec(userAgent)?.[1];
    if (version !== undefined) return `${name} ${version}`;
  }
  return undefined;
}
