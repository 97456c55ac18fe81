import type { EntityManager } from '@mikro-orm/postgresql';
import type { Host } from '#core/gateway/host/host.ts';
import type { Queries } from '#core/platform/database/database.ts';
import { epochs, type RecordOf, type Row, toRecord } from '#core/platform/database/rows.ts';
import { type Language, languages } from '#core/web/texts/texts.ts';
import {
  type AcceptedPage,
  acceptedPages,
  digestPattern,
  type Document,
  type StoredTexts,
  getVersion,
} from './document.ts';
import type { Acceptance as AcceptanceEntity, AcceptanceText } from './entities.ts';

const recordIntervalMs = 600_000;
/** A replaced text is accepted this long after `shown_at`: at least an hour, although `shown_at` is updated only once per interval. */
const acceptanceMinutes = 60 + recordIntervalMs / 60_000;

const recordedTimesKey = 'acceptance-noted';

/** Returns when each text, by digest, was last recorded, in ms of the monotonic clock. */
function getRecordedTimes({ keep }: Pick<Host, 'keep'>): Map<string, number> {
  return keep(recordedTimesKey, () => new Map<string, number>());
}

export async function recordShownTexts(
  host: Pick<Host, 'keep' | 'monotonic' | 'database'>,
  documents: readonly Document[],
): Promise<void> {
  const recordedTimes = getRecordedTimes(host);
  const dueDocuments = documents.filter(
    ({ digest }) => (recordedTimes.get(digest) ?? -Infinity) + recordIntervalMs <= host.monotonic(),
  );
  if (dueDocuments.length === 0) return;
  await host.database.query(
    `insert into acceptance_text (digest, page, address, texts)
     select * from jsonb_to_recordset(?::jsonb) as d(digest text, page text, address text, texts jsonb) order by digest
     on conflict (digest) do update set shown_at = clock_timestamp()`,
    [JSON.stringify(dueDocuments.map(({ digest, page, address, texts }) => ({ digest, page, address, texts })))],
  );
  for (const { digest } of dueDocuments) recordedTimes.set(digest, host.monotonic());
}

interface ShownText {
  readonly digest: string;
  readonly language: string;
}

/** Example: `DIGEST.en DIGEST.en`. */
export function encodeShownTexts(documents: readonly Document[]): string {
  return documents.map(({ digest, language }) => `${digest}.${language}`).join(' ');
}

export function parseShownTexts(fieldValue: string): ShownText[] {
  return fieldValue.split(' ').flatMap((entry) => {
    const [digest = '', language = ''] = entry.split('.');
    return digestPattern.test(digest) && languages.some((supported) => supported === language)
      ? [{ digest, language }]
      : [];
  });
}

export interface AcceptedText {
  readonly page: AcceptedPage;
  readonly digest: string;
  readonly version: string | undefined;
  readonly language: Language;
  readonly address: string | undefined;
  /** When the text was first shown. */
  readonly createdAt: Date;
}

/**
 * Records the texts that a buyer accepts with an order. A text that was shown is valid if it is in force, has the same version as the text
 * in force, or was shown within the last hour.
 *
 * @returns undefined if no valid text was shown for one of the pages
 */
export async function recordAcceptance(
  transaction: EntityManager,
  order: { readonly id: string; readonly accountId: string },
  shownTexts: readonly ShownText[],
  documentsInForce: readonly Document[],
): Promise<AcceptedText[] | undefined> {
  const requiredTexts = documentsInForce.map(({ page, digest, texts }) => ({
    page,
    digest,
    texts: omitBodies(texts),
  }));
  const rows = await transaction.execute<
    (Row<typeof AcceptanceText, 'digest' | 'address' | 'created_at'> & AcceptedRow)[]
  >(
    `with valid as (
       select distinct on (t.digest) t.digest, t.page, t.address, t.created_at, s.language,
         t.texts -> s.language ->> 'version' as version
       from jsonb_to_recordset(?::jsonb) as s(digest text, language text)
         join acceptance_text t on t.digest = s.digest and (t.texts is null or t.texts -> s.language is not null)
         join jsonb_to_recordset(?::jsonb) as n(page text, digest text, texts jsonb) on n.page = t.page
       where t.digest = n.digest or t.shown_at > clock_timestamp() - interval '${acceptanceMinutes} minutes'
         or t.texts -> s.language ->> 'version' = n.texts -> s.language ->> 'version'
     ), stored as (
       insert into acceptance (id, account_id, order_id, code, page, digest, version, language)
       select gen_random_uuid(), ?::uuid, o.id, o.code, v.page, v.digest, v.version, v.language from valid v, plan_order o where o.id = ?
       on conflict (order_id, digest) do nothing
     )
     select page, digest, version, language, address, ${epochs('valid.created_at')} from valid`,
    [JSON.stringify(shownTexts), JSON.stringify(requiredTexts), order.accountId, order.id],
  );
  const acceptedTexts = rows.map((row) => toRecord(row) as AcceptedText);
  const isComplete = documentsInForce.every(({ page }) => acceptedTexts.some((text) => text.page === page));
  return isComplete ? sortByPage(acceptedTexts) : undefined;
}

interface AcceptedRow {
  readonly page: AcceptedPage;
  readonly version: string | null;
  readonly language: Language;
}

function omitBodies(texts: StoredTexts = {}): object {
  return Object.fromEntries(Object.entries(texts).map(([language, { version }]) => [language, { version }]));
}

function sortByPage(accepted: readonly AcceptedText[]): AcceptedText[] {
  return accepted.toSorted((first, second) => acceptedPages.indexOf(first.page) - acceptedPages.indexOf(second.page));
}

/** Clears the recorded times after a rejection, so that the next page records the shown texts again. */
export function clearRecordedTimes(host: Pick<Host, 'keep'>): void {
  getRecordedTimes(host).clear();
}

/** Finds pages whose current version differs from the one that the account accepted last. */
export async function findChangedPages(
  database: Queries,
  accountId: string,
  documents: readonly Document[],
): Promise<AcceptedPage[]> {
  const rows = await database.query<AcceptedRow & { readonly digest: string }>(
    `select distinct on (page) page, digest, version, language from acceptance where account_id = ? order by page, accepted_at desc`,
    [accountId],
  );
  const lastByPage = new Map(rows.map((row) => [row.page, row]));
  return documents.flatMap(({ page, digest, texts }) => {
    const lastAccepted = lastByPage.get(page);
    if (lastAccepted === undefined || lastAccepted.digest === digest) return [];
    const isSame =
      lastAccepted.version !== null && lastAccepted.version === getVersion({ texts, language: lastAccepted.language });
    return isSame ? [] : [page];
  });
}

export interface StoredDocument {
  readonly page: AcceptedPage;
  readonly address: string | undefined;
  readonly texts: StoredTexts | undefined;
  readonly createdAt: Date;
}

export async function readDocument(database: Queries, digest: string): Promise<StoredDocument | undefined> {
  if (!digestPattern.test(digest)) return undefined;
  const [row] = await database.query<Row<typeof AcceptanceText, 'page' | 'address' | 'texts' | 'created_at'>>(
    `select page, address, texts, ${epochs('t.created_at')} from acceptance_text t where digest = ?`,
    [digest],
  );
  return row === undefined ? undefined : (toRecord(row) as StoredDocument);
}

type AcceptanceRow = Row<
  typeof AcceptanceEntity,
  'id' | 'account_id' | 'order_id' | 'code' | 'digest' | 'version' | 'accepted_at'
> & { readonly page: AcceptedPage; readonly language: Language; readonly address: string | null };

export type AcceptanceRecord = RecordOf<AcceptanceRow>;

export async function listAcceptances(
  database: Queries,
  {
    account,
    order,
    after,
  }: {
    readonly account?: string | undefined;
    readonly order?: string | undefined;
    /** Id of the last acceptance of the previous page. */
    readonly after?: string | undefined;
  },
  limit: number,
): Promise<AcceptanceRecord[]> {
  const rows = await database.query<AcceptanceRow>(
    `select a.id, a.account_id, a.order_id, a.code, a.page, a.digest, a.version, a.language, t.address, ${epochs('a.accepted_at')}
     from acceptance a left join acceptance_text t on t.digest = a.digest
     where (?::text is null or a.account_id::text = ?) and (?::text is null or a.code = upper(?))
       and (?::uuid is null or (a.accepted_at, a.id) < (select accepted_at, id from acceptance where id = ?::uuid))
     order by a.accepted_at desc, a.id desc limit ?`,
    [account, account, order, order, after, after, limit].map((value) => value ?? null),
  );
  return rows.map((row) => toRecord(row) as AcceptanceRecord);
}
