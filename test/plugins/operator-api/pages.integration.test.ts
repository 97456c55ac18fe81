import { Server } from '@hapi/hapi';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { createOperatorApiRoutes } from '../../../plugins/operator-api/routes.ts';
import { createToken } from '../../../plugins/operator-api/tokens.ts';
import { createPaymentHost } from '../../core/business/payments/fixture.ts';
import { createTestDatabase } from '../../support/database.ts';
import { registeredHere } from '../../support/registered.ts';

let database: Database;
let server: Server;
let token: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const base = createPaymentHost(database, []);
  const sections = new Map<string, object>([
    ['operator_api', { enabled: true, requests_per_minute: 1_000 }],
    ['service', { time_zone: 'UTC' }],
    ['operators', []],
  ]);
  const section: Host['section'] = (one) => (sections.get(one.name) ?? base.section(one)) as never;
  const { operatorReadings } = await registeredHere();
  server = new Server();
  server.route(createOperatorApiRoutes(() => ({ ...base, section }), operatorReadings));
  token = (await createToken(database, { name: 'pages', scope: 'read', days: 1 })) ?? '';
});
afterAll(() => database[Symbol.asyncDispose]());

type Page = Readonly<Record<string, readonly { readonly id: string }[]>> & { readonly next: string | null };

/** The ids of all pages, and how many pages there were. */
async function walk(list: string, query: string) {
  const ids: string[] = [];
  let pages = 0;
  for (let after: string | null = ''; after !== null && pages < 20; pages++) {
    const parameters = new URLSearchParams(query);
    if (after !== '') parameters.set('after', after);
    const { payload, statusCode } = await server.inject({
      url: `/operator/api/${list}?${parameters.toString()}`,
      headers: { authorization: `Bearer ${token}` },
    });
    expect([statusCode, statusCode === 200 ? '' : payload]).toEqual([200, '']);
    const page = JSON.parse(payload) as Page;
    ids.push(...(page[list] ?? []).map(({ id }) => id));
    after = page.next;
  }
  return { ids, pages };
}

/** Two rows have each time: what decides between them must decide between pages, too. */
const at = `timestamptz '2026-11-01' + (n / 2) * interval '1 minute'`;
const account = `(select id from account where name = 'Pages')`;
const rows = (count: number) => `generate_series(1, ${count}) n`;

interface Listing {
  readonly fill: readonly string[];
  readonly query?: string;
  readonly pages: number;
  /** Ids in the order of the list. */
  readonly order: string;
}

const listings: Readonly<Record<string, Listing>> = {
  outages: {
    fill: [
      `insert into outage (id, incident_id, model, from_at, until_at, credited_at)
       select gen_random_uuid(), gen_random_uuid(), 'dp/m', ${at}, ${at} + interval '1 hour', now() from ${rows(205)}`,
    ],
    pages: 3,
    order: 'select id from outage order by from_at desc, id',
  },
  batches: {
    fill: [
      `insert into voucher_batch (id, days, note, source, is_for_new, expires_at, created_at)
       select gen_random_uuid(), 1, 'pages', 'given', false, now(), ${at} from ${rows(205)}`,
      `insert into voucher (id, batch_id, sha256, hint)
       select gen_random_uuid(), id, sha256(id::text::bytea), 'ABCD' from voucher_batch, generate_series(1, 2)
       on conflict do nothing`,
    ],
    pages: 3,
    order: 'select id from voucher_batch order by created_at desc, id',
  },
  announcements: {
    fill: [
      `insert into announcement (id, kind, audience, text_en, text_id, starts_at, ends_at, created_by, created_at)
       select gen_random_uuid(), 'note', 'all', 'Text.', 'Teks.', now(), now() + interval '1 hour', 'admin', ${at} from ${rows(205)}`,
    ],
    pages: 3,
    order: 'select id from announcement order by created_at desc, id desc',
  },
  actions: {
    fill: [
      `insert into operator_action (id, operator_id, operator, action, subject, created_at)
       select gen_random_uuid(), gen_random_uuid(), 'admin', 'account.note', 'pages', ${at} from ${rows(205)}`,
    ],
    query: 'subject=pages',
    pages: 3,
    order: `select id from operator_action where subject = 'pages' order by created_at desc, id desc`,
  },
  mails: {
    fill: [
      `insert into account_event (name, payload, dedupe_key) select 'order.paid', '{}', 'pages:' || n from ${rows(205)}`,
      `insert into mail_message (event_id, channel, account_id, created_at)
       select id, unnest(array['customer', 'webhook']), ${account}, ${at}
       from (select id, row_number() over (order by id) as n from account_event where dedupe_key like 'pages:%') e`,
    ],
    pages: 3,
    order: `select event_id::text as id from mail_message where channel = 'customer' order by created_at desc, event_id desc`,
  },
  receipts: {
    fill: [
      `insert into receipt (id, kind, payment_id, order_id, account_id, code, made_at, currency, amount, buyer, content, is_test)
       select gen_random_uuid(), 'payment', gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ORD-' || n, ${at}, 'IDR', 1, 'Ani',
         '{"seller": {"name": "Shop"}}', false from ${rows(205)}`,
    ],
    query: 'waiting=true',
    pages: 3,
    order: 'select id from receipt order by made_at desc, id desc',
  },
  acceptances: {
    fill: [
      `insert into acceptance_text (digest, page, address) values ('digest', 'terms', 'https://shop.example/terms')`,
      `insert into acceptance (id, account_id, order_id, code, page, digest, language, accepted_at)
       select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'ORD-' || n, 'terms', 'digest', 'en', ${at} from ${rows(205)}`,
    ],
    pages: 3,
    order: 'select id from acceptance order by accepted_at desc, id desc',
  },
  tokens: {
    fill: [
      `insert into operator_token (id, name, sha256, scope, expires_at, created_at)
       select gen_random_uuid(), 'pages ' || n, sha256(n::text::bytea), 'read', now() + interval '1 day', ${at} from ${rows(204)}`,
    ],
    pages: 3,
    order: 'select id from operator_token order by created_at desc, id desc',
  },
  data_requests: {
    fill: [
      `insert into data_request (id, kind, channel, person, received_at, due_at, answered_at, outcome)
       select gen_random_uuid(), 'access', 'mail', 'Ani', ${at}, ${at} + interval '3 days',
         case when n % 3 = 0 then ${at} + interval '1 hour' end, case when n % 3 = 0 then 'done' end from ${rows(2_005)}`,
    ],
    pages: 3,
    order: 'select id from data_request order by answered_at desc nulls first, due_at, id',
  },
};

it.each(Object.entries(listings))('pages of %s have every entry once, in the order of the list', async (list, kind) => {
  await database.query(
    `insert into account (id, name) select gen_random_uuid(), 'Pages' where not exists (select from account where name = 'Pages')`,
  );
  for (const statement of kind.fill) await database.query(statement);
  const { ids, pages } = await walk(list, kind.query ?? '');
  expect(pages).toBe(kind.pages);
  expect(ids).toEqual((await database.query<{ id: string }>(kind.order)).map(({ id }) => id));
});

it('pages of open requests about data go on behind one that was answered meanwhile', async () => {
  const [first] = await database.query<{ id: string }>(
    'select id from data_request where answered_at is null order by due_at, id limit 1',
  );
  const open = await walk('data_requests', 'state=open');
  await database.query(`update data_request set answered_at = now(), outcome = 'done' where id = '${first?.id}'`);
  const after = await walk('data_requests', `state=open&after=${first?.id}`);
  expect(after.ids).toEqual(open.ids.slice(1));
});

it('every list of the API that has an "after" is paged through here or is known to be', async () => {
  const { operatorReadings } = await registeredHere();
  const paged = [...operatorReadings.values()]
    .filter(({ query = {} }) => 'after' in query)
    .map(({ path }) => path.slice(1));
  const elsewhere = ['accounts', 'configurations', 'consents', 'orders', 'requests', 'vouchers'];
  expect(paged.toSorted()).toEqual([...Object.keys(listings), ...elsewhere].toSorted());
});
