import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import type { ProblemKind } from '#core/web/problems/problem.ts';
import { createTestDatabase } from '../../../support/database.ts';
import { registeredHere } from '../../../support/registered.ts';

let database: Database;
let kinds: ReadonlyMap<string, ProblemKind>;
beforeAll(async () => {
  database = await createTestDatabase();
  kinds = (await registeredHere()).problems;
});
afterAll(() => database[Symbol.asyncDispose]());

async function holds(name: string): Promise<boolean | undefined> {
  const [row] = await database.query<{ holds: boolean }>(`SELECT (${kinds.get(name)?.precondition}) AS holds`);
  return row?.holds;
}

const account = `insert into account (id, name) values ('01980000-0000-7000-8000-000000000001', 'Ani')`;
const order = `insert into plan_order (id, code, account_id, days, price, currency, provider, state, created_at, expires_at)
  values ('01980000-0000-7000-8000-000000000002', 'ORD-2222TEST', '01980000-0000-7000-8000-000000000001', 1, 1, 'IDR', 'sandbox',
    'created', now(), now())`;

/** By kind: what brings a problem, and what mends it. */
const problems: Readonly<Record<string, { readonly bring: readonly string[]; readonly mend: string }>> = {
  payments_unconfirmed: {
    bring: [
      `insert into payment_notification (provider, event_key, body)
       values ('sandbox', 'one', '{}')`,
    ],
    mend: 'update payment_notification set next_try_at = null',
  },
  foreign_money: {
    bring: [
      `insert into order_flag (id, kind, subject, detail) values (gen_random_uuid(), 'not_in_books', 'money', '{}')`,
    ],
    mend: `update order_flag set resolved_at = now(), resolution = 'ours'`,
  },
  order_flagged: {
    bring: [
      account,
      order,
      `insert into order_flag (id, order_id, kind, subject, detail)
       select gen_random_uuid(), id, 'second_payment', 'again', '{}' from plan_order`,
    ],
    mend: `update order_flag set resolved_at = now(), resolution = 'sent back' where order_id is not null`,
  },
  mail: {
    bring: [
      `insert into account_event (name, payload, dedupe_key) values ('order.paid', '{}', 'mail')`,
      `insert into mail_message (event_id, channel, account_id, state, finished_at)
       select e.id, 'customer', a.id, 'failed', now() from account_event e, account a where e.dedupe_key = 'mail'`,
    ],
    mend: `update mail_message set state = 'waiting', finished_at = null`,
  },
  action_unfinished: {
    bring: [
      `insert into operator_action (id, operator_id, operator, action, subject, created_at)
       values (gen_random_uuid(), gen_random_uuid(), 'admin', 'account.note', 'one', now() - interval '71 hours')`,
    ],
    mend: 'update operator_action set finished_at = now()',
  },
  data_request: {
    bring: [
      `insert into data_request (id, kind, channel, person, received_at, due_at)
       values (gen_random_uuid(), 'access', 'mail', 'Ani', now(), now() + interval '1 day')`,
    ],
    mend: `update data_request set answered_at = now(), outcome = 'done'`,
  },
  doubled_address: {
    bring: ['drop index account_email_ascii'],
    mend: 'create unique index account_email_ascii on account (lower(email collate "C"))',
  },
  closed_key: {
    bring: [
      `insert into closed_key (id, digest, upstream, vendor, part, words, source, closed_at, retry_at)
       values (gen_random_uuid(), 'digest', 'openai', 'openai', 'key', 'gone', 'docs', now(), now())`,
    ],
    mend: 'delete from closed_key',
  },
  outage: {
    bring: [
      `insert into outage (id, incident_id, model, from_at, until_at)
       values (gen_random_uuid(), gen_random_uuid(), 'dp/m', now() - interval '1 hour', now())`,
    ],
    mend: 'update outage set declined_at = now()',
  },
};

it.each(Object.entries(problems))('the precondition of %s holds while there is one', async (name, { bring, mend }) => {
  const before = await holds(name);
  for (const statement of bring) await database.query(statement);
  const meanwhile = await holds(name);
  await database.query(mend);
  expect([before, meanwhile, await holds(name)]).toEqual([false, true, false]);
});

it('every precondition is tried here', () => {
  const asked = kinds.values().flatMap(({ name, precondition }) => (precondition === undefined ? [] : [name]));
  expect([...asked].toSorted()).toEqual(Object.keys(problems).toSorted());
});
