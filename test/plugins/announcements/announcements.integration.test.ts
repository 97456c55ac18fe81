import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { blockAccount } from '#core/business/accounts/blocking.ts';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import {
  type AnnouncementInput,
  changeAnnouncement,
  createAnnouncement,
  endAnnouncement,
  findAnnouncement,
  listAnnouncements,
  listOpenAnnouncements,
} from '../../../plugins/announcements/announcements.ts';
import { RecordBook } from '../../core/gateway/records/record-fixture.ts';
import { clearDatabase, createTestDatabase } from '../../support/database.ts';

const hour = 3_600_000;
const catalog = {
  resolve: (name: string) => (name === 'gpt-6-sol' ? { publicName: 'dp/gpt-6-sol' } : undefined),
} as unknown as Catalog;

let database: Database;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  mail = { smtp: 'smtp://localhost:2525' };
  await clearDatabase(database);
});

function words(change: Partial<AnnouncementInput> = {}): AnnouncementInput {
  return {
    kind: 'note',
    audience: 'all',
    model: undefined,
    text: { en: 'We move.', id: 'Kami pindah.' },
    since: new Date(Date.now() - hour).toISOString(),
    until: new Date(Date.now() + hour).toISOString(),
    ...change,
  };
}

let mail = { smtp: 'smtp://localhost:2525' };
const section = (() => mail) as unknown as Host['section'];
const host = () => ({ database, catalog, section, now: () => Date.now() });
const announce = (change: Partial<AnnouncementInput> = {}, isMailed = false) =>
  createAnnouncement(host(), words(change), { createdBy: 'ops@example.com', isMailed });
const openTexts = async () => (await listOpenAnnouncements(database)).map(({ text }) => text.en);

async function customer(days: number | undefined, email: string | undefined = `${randomUUID()}@example.com`) {
  const period = days === undefined ? {} : { period: { days, reason: 'grant' as const } };
  return (await createAccount(database, 'dp', { name: 'Ani', email, ...period })).accountId;
}

const mailed = async (id: string) =>
  (
    await database.query<{ account: string }>(
      `select payload ->> 'accountId' as account from account_event
       where name = 'announcement.published' and payload ->> 'announcementId' = ?`,
      [id],
    )
  ).map(({ account }) => account);

it('an announcement is read as it was written, with who has', async () => {
  const { id } = await announce({ kind: 'maintenance', audience: 'customers', model: 'gpt-6-sol' });
  expect(await findAnnouncement(database, id)).toMatchObject({
    kind: 'maintenance',
    audience: 'customers',
    model: 'dp/gpt-6-sol',
    text: { en: 'We move.', id: 'Kami pindah.' },
    createdBy: 'ops@example.com',
    endedAt: undefined,
  });
  expect(await findAnnouncement(database, randomUUID())).toBeUndefined();
  expect(await findAnnouncement(database, 'nonsense')).toBeUndefined();
});

it('an announcement is refused with a span that ends before it begins or has passed, or about an unknown model', async () => {
  const kinds = [
    { until: new Date(Date.now() - 2 * hour).toISOString() },
    { since: new Date(Date.now() - 3 * hour).toISOString(), until: new Date(Date.now() - hour).toISOString() },
    { model: 'never-there' },
  ].map((change) =>
    announce(change).then(
      () => 'done',
      ({ kind }: { kind: string }) => kind,
    ),
  );
  expect(await Promise.all(kinds)).toEqual(['span', 'span', 'not_found']);
  expect(await listAnnouncements(database, 10)).toEqual([]);
});

it('an announcement is refused with mail where no mail is set up, and says what to set', async () => {
  mail = { smtp: '' };
  await expect(announce({}, true)).rejects.toThrow('set mail.smtp in gateway.yaml');
  expect(await listAnnouncements(database, 10)).toEqual([]);
  expect((await announce()).mailCount).toBe(0);
});

it('changes until it ends, which it does once', async () => {
  const { id } = await announce();
  await changeAnnouncement(host(), id, words({ text: { en: 'We stay.', id: 'Kami tetap.' } }));
  expect(await openTexts()).toEqual(['We stay.']);
  await endAnnouncement(database, id);
  expect(await openTexts()).toEqual([]);
  await expect(endAnnouncement(database, id)).rejects.toMatchObject({ kind: 'not_found' });
  await expect(changeAnnouncement(host(), id, words())).rejects.toMatchObject({ kind: 'not_found' });
  expect((await listAnnouncements(database, 10))[0]?.endedAt).toBeGreaterThan(Date.now() - hour);
});

const idsOf = async (page: Parameters<typeof listAnnouncements>[2]) =>
  (await listAnnouncements(database, 2, page)).map(({ id }) => id);

it('announcements are listed by state, so that one that is shown is not lost behind ended ones', async () => {
  const { id: openId } = await announce();
  for (let ended = 0; ended < 3; ended++) await endAnnouncement(database, (await announce()).id);
  expect(await idsOf({ state: 'open' })).toEqual([openId]);
  const [, second] = await idsOf({ state: 'ended' });
  expect(await idsOf({ state: 'ended', after: second })).toHaveLength(1);
});

it('an announcement is mailed once to each account with an address and paid time that is not blocked', async () => {
  const paying = await customer(7);
  await customer(undefined);
  const blocked = await customer(7);
  await blockAccount(database, blocked, 'abuse');
  const { id, mailCount } = await announce({}, true);
  expect([mailCount, await mailed(id)]).toEqual([1, [paying]]);
  const silent = await announce();
  expect([silent.mailCount, await mailed(silent.id)]).toEqual([0, []]);
});

it('about a model is mailed to those that used it', async () => {
  const [user] = [await customer(7), await customer(7)];
  const book = new RecordBook(database);
  await book.write({ account_id: user ?? null, started_at: Date.now() - hour, model: 'dp/gpt-6-sol' });
  const { id } = await announce({ model: 'gpt-6-sol' }, true);
  expect(await mailed(id)).toEqual([user]);
});
