import { randomUUIDv7 } from 'node:crypto';
import { AccountError } from '#core/business/accounts/account-error.ts';
import { sendsMail } from '#core/business/mail/section.ts';
import { ActionRefused } from '#core/business/operator-actions/action-kind.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { findModelName } from '#core/gateway/records/model-names.ts';
import { type Queries, uuid } from '#core/platform/database/database.ts';
import { epochs, type Row } from '#core/platform/database/rows.ts';
import type { Language } from '#core/web/texts/texts.ts';
import type { AnnouncementRow } from './entities.ts';
import { recordMails } from './record-mails.ts';

/** `all`: customers, and visitors of the status page and its feed. `customers`: only customers, on their home page. */
export type AnnouncementAudience = 'all' | 'customers';

/** An operator's message to customers. Times are epoch ms. */
export interface Announcement {
  readonly kind: 'maintenance' | 'note';
  readonly audience: AnnouncementAudience;
  /** Public name of the affected model; undefined if it concerns the whole service. */
  readonly model: string | undefined;
  readonly text: Readonly<Record<Language, string>>;
  readonly from: number;
  readonly until: number;
}

export interface StoredAnnouncement extends Announcement {
  readonly id: string;
  readonly createdBy: string;
  /** When an operator ended it early; undefined if no operator did. */
  readonly endedAt: number | undefined;
}

/** `model` may be any of the model's names. */
export interface AnnouncementInput extends Omit<Announcement, 'from' | 'until'> {
  /** Start time, RFC 3339. */
  readonly since: string;
  readonly until: string;
}

/**
 * Publishes an announcement, and sends it by email if requested (`record-mails.ts`).
 *
 * @throws ActionRefused `not_found` for an unknown model
 * @throws AccountError `span`, or `no_mail` if emails are requested and the gateway cannot send any
 */
export async function createAnnouncement(
  host: Pick<Host, 'catalog' | 'database' | 'now' | 'section'>,
  input: AnnouncementInput,
  { createdBy, isMailed: wantsMail }: { readonly createdBy: string; readonly isMailed: boolean },
): Promise<{ readonly id: string; readonly mailCount: number }> {
  const id = randomUUIDv7();
  const { kind, audience, text } = input;
  const { from, until, model } = await parseInput(host, input);
  if (wantsMail && !sendsMail(host.section))
    throw new AccountError(
      'no_mail',
      'Mail is not set up: set mail.smtp in gateway.yaml, or announce it without mail.',
    );
  const mailCount = await host.database.fork().transactional(async (transaction) => {
    await transaction.execute(
      `insert into announcement (id, kind, audience, model, text_en, text_id, starts_at, ends_at, created_by)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [id, kind, audience, model ?? null, text.en, text.id, new Date(from), new Date(until), createdBy],
    );
    return wantsMail ? recordMails(transaction, id, model) : 0;
  });
  return { id, mailCount };
}

/**
 * Updates an announcement that has not ended. Sends no further email.
 *
 * @throws ActionRefused `not_found` for an unknown model, or if the announcement has ended
 * @throws AccountError `span`
 */
export async function changeAnnouncement(
  host: Pick<Host, 'catalog' | 'database' | 'now'>,
  id: string,
  input: AnnouncementInput,
): Promise<void> {
  const { kind, audience, text } = input;
  const { from, until, model } = await parseInput(host, input);
  const updatedRows = await host.database.query(
    `update announcement set kind = ?, audience = ?, model = ?, text_en = ?, text_id = ?, starts_at = ?, ends_at = ?
     where id = ? and ended_at is null and ends_at > clock_timestamp() returning id`,
    [kind, audience, model ?? null, text.en, text.id, new Date(from), new Date(until), id],
  );
  if (updatedRows.length === 0) throw createNotFoundError();
}

/** @throws ActionRefused `not_found` if the announcement has ended */
export async function endAnnouncement(database: Queries, id: string): Promise<void> {
  const updatedRows = await database.query(
    `update announcement set ended_at = clock_timestamp()
     where id = ? and ended_at is null and ends_at > clock_timestamp() returning id`,
    [id],
  );
  if (updatedRows.length === 0) throw createNotFoundError();
}

function createNotFoundError(): ActionRefused {
  return new ActionRefused('The announcement does not exist, or it has ended.', 'not_found');
}

async function parseInput(
  host: Pick<Host, 'catalog' | 'database' | 'now'>,
  input: AnnouncementInput,
): Promise<{ readonly from: number; readonly until: number; readonly model: string | undefined }> {
  const [from, until] = [Date.parse(input.since), Date.parse(input.until)];
  if (!(from < until)) throw new AccountError('span', 'The start must be before the end.');
  if (until <= host.now()) throw new AccountError('span', 'The end must be later than now.');
  if (input.model === undefined) return { from, until, model: undefined };
  const model = await findModelName(host, input.model);
  if (model === undefined) throw new ActionRefused(`Model "${input.model}" not found.`, 'not_found');
  return { from, until, model };
}

const columns = `id, kind, audience, model, text_en, text_id, created_by, ${epochs('starts_at', 'ends_at', 'ended_at')}`;

type AnnouncementColumns = Row<
  typeof AnnouncementRow,
  'id' | 'kind' | 'audience' | 'model' | 'text_en' | 'text_id' | 'created_by' | 'starts_at' | 'ends_at' | 'ended_at'
>;

const openCondition = 'announcement.ended_at is null and announcement.ends_at > clock_timestamp()';
const conditions = { open: openCondition, ended: `not (${openCondition})`, all: 'true' } as const;

export async function listOpenAnnouncements(database: Queries): Promise<StoredAnnouncement[]> {
  const rows = await database.query<AnnouncementColumns>(
    `select ${columns} from announcement where ${conditions.open}
     -- The column, not the alias in epoch milliseconds.
     order by announcement.starts_at, id limit 100`,
  );
  return rows.map(toAnnouncement);
}

/** Lists the newest first. `after` is the id of the last announcement of the previous page. */
export async function listAnnouncements(
  database: Queries,
  limit: number,
  { state, after }: { readonly state?: 'open' | 'ended' | undefined; readonly after?: string | undefined } = {},
): Promise<StoredAnnouncement[]> {
  const rows = await database.query<AnnouncementColumns>(
    `select ${columns} from announcement
     where ${conditions[state ?? 'all']}
       and (?::uuid is null or (announcement.created_at, id) < (select a.created_at, a.id from announcement a where a.id = ?::uuid))
     order by announcement.created_at desc, id desc limit ?`,
    [after ?? null, after ?? null, limit],
  );
  return rows.map(toAnnouncement);
}

export async function findAnnouncement(database: Queries, id: string): Promise<StoredAnnouncement | undefined> {
  if (!uuid.test(id)) return undefined;
  const [row] = await database.query<AnnouncementColumns>(`select ${columns} from announcement where id = ?`, [id]);
  return row && toAnnouncement(row);
}

export function isOpen({ until, endedAt }: StoredAnnouncement, now: number): boolean {
  return endedAt === undefined && now < until;
}

function toAnnouncement(row: AnnouncementColumns): StoredAnnouncement {
  return {
    id: row.id,
    kind: row.kind,
    audience: row.audience,
    model: row.model ?? undefined,
    text: { en: row.text_en, id: row.text_id },
    from: row.starts_at,
    until: row.ends_at,
    createdBy: row.created_by,
    endedAt: row.ended_at ?? undefined,
  };
}
