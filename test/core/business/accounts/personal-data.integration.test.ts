import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { removeLateRecords, deleteAccount } from '#core/business/accounts/deletion.ts';
import { exportForOwner } from '#core/business/accounts/owner-export.ts';
import { recordPersonalTables } from '#core/business/accounts/personal-tables.ts';
import type { Column } from '#core/gateway/records/column.ts';
import { columns } from '#core/gateway/records/columns.ts';
import { defineEntity, p, personal } from '#core/index.ts';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { coreEntities } from '#core/process/entities.ts';
import { createBareDatabase, dropDatabase, silentLog } from '../../../support/database.ts';

/** Tables of a plugin: a column that may be null, one that may not, and rows that name the account through another table. */
const Contact = defineEntity({
  name: 'Contact',
  tableName: 'contact',
  properties: { id: p.integer().primary(), accountId: p.uuid(), phone: personal(p.text().nullable()) },
});
const Diary = defineEntity({
  name: 'Diary',
  tableName: 'request_diary',
  properties: { id: p.integer().primary(), contact: () => p.manyToOne(Contact), entry: personal(p.text()) },
});

let database: Database;
beforeAll(async () => {
  const options = { dataFolder: tmpdir(), log: silentLog, mode: 'command', isShared: true } as const;
  const entities = [...coreEntities, Contact, Diary];
  database = await openDatabase({ url: await createBareDatabase(), entities, ...options });
  await database.query('create table request_log_p partition of request_log default');
  await database.query('create table request_content_p partition of request_content default');
  await database.query('create table contact (id integer primary key, account_id uuid not null, phone text)');
  await database.query('create table request_diary (id integer primary key, contact_id integer, entry text not null)');
});
afterAll(async () => {
  const { url } = database;
  await database[Symbol.asyncDispose]();
  await dropDatabase(url);
});

const contacts = 1_200;

async function addContacts(first: number): Promise<string> {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  await database.query('insert into contact select n, ?::uuid, ?::text || n from generate_series(?::int, ?::int) n', [
    accountId,
    '+62 812 ',
    first,
    first + contacts - 1,
  ]);
  await database.query(`insert into request_diary select id, id, 'slept badly' from contact where account_id = ?`, [
    accountId,
  ]);
  return accountId;
}

async function remaining(accountId: string): Promise<unknown> {
  const [row] = await database.query(
    `select count(*)::int as contacts, count(phone)::int as phones, count(d.id)::int as entries
     from contact c left join request_diary d on d.contact_id = c.id where account_id = ?`,
    [accountId],
  );
  return row;
}

it('the personal columns of a plugin are removed with the account, however many rows they have, and those of others stay', async () => {
  const [deleted, other] = [await addContacts(1), await addContacts(10_001)];
  await deleteAccount(database, deleted);
  expect(await remaining(deleted)).toEqual({ contacts, phones: 0, entries: 0 });
  expect(await remaining(other)).toEqual({ contacts, phones: contacts, entries: contacts });
});

it('the personal columns of a capability that is gone are removed with the account', async () => {
  const [deleted, other] = [await addContacts(40_001), await addContacts(50_001)];
  await recordPersonalTables(database);
  const options = { dataFolder: tmpdir(), log: silentLog, mode: 'command', isShared: true } as const;
  await using without = await openDatabase({ url: database.url, entities: coreEntities, ...options });
  await deleteAccount(without, deleted);
  expect(await remaining(deleted)).toEqual({ contacts, phones: 0, entries: 0 });
  expect(await remaining(other)).toEqual({ contacts, phones: contacts, entries: contacts });
  await database.query('alter table request_diary rename to request_diary_of_before');
  await deleteAccount(without, other);
  expect(await database.query('select phone from contact where account_id = ? and phone is not null', [other])).toEqual(
    [],
  );
  await database.query('alter table request_diary_of_before rename to request_diary');
});

it('tables of removed plugins that have changed since, or have odd names, stop no deletion and no download', async () => {
  const accountId = await addContacts(60_001);
  const mobile = [{ name: 'mobile' }];
  const described = { key: ['id'], ofAccount: 'account_id = ?', isBound: false, removal: 'update' };
  const rows = [
    { ...described, name: 'gone_contact', columns: [{ name: 'phone' }, { name: 'e_mail' }] },
    { ...described, name: 'Odd-Table', columns: [{ name: 'Phone' }] },
    { ...described, name: 'no such table;', columns: mobile },
    { ...described, name: 'Gone_Contact', columns: mobile },
    { ...described, name: 'moved', ofAccount: 'owner = ?', columns: [{ name: 'phone' }] },
    { ...described, name: 'gone_parent', columns: [{ name: 'phone' }], removal: 'delete' },
    {
      ...described,
      name: 'gone_child',
      ofAccount: '(parent_id) in (select id from gone_parent where account_id = ?)',
      columns: [{ name: 'entry' }],
      removal: 'delete',
    },
  ];
  const tables = `create table gone_contact (id integer primary key, account_id uuid, mobile text, e_mail text);
    create table "Odd-Table" (id integer primary key, account_id uuid, "Phone" text);
    create table moved (id integer primary key, account_id uuid, phone text);
    create table gone_parent (id integer primary key, account_id uuid, phone text not null);
    create table gone_child (id integer primary key, parent_id integer references gone_parent, entry text not null)`;
  for (const statement of tables.split(';')) await database.query(statement);
  await database.query(`insert into gone_contact values (1, ?, '1', 'a@b.example')`, [accountId]);
  await database.query(`insert into "Odd-Table" values (1, ?, '2')`, [accountId]);
  await database.query(`insert into moved values (1, ?, '3')`, [accountId]);
  await database.query(`insert into gone_parent values (1, ?, '4')`, [accountId]);
  await database.query(`insert into gone_child values (1, 1, 'slept badly')`);
  for (const row of rows)
    await database.query('insert into personal_table values (?, ?::jsonb)', [row.name, JSON.stringify(row)]);

  const own = JSON.parse((await Array.fromAsync(exportForOwner(database, accountId))).join(''));
  expect(own).toMatchObject({ gone_contact: [{ e_mail: 'a@b.example' }], 'Odd-Table': [{ Phone: '2' }] });
  await deleteAccount(database, accountId);
  expect(await database.query('select e_mail from gone_contact')).toEqual([{ e_mail: null }]);
  expect(await database.query('select "Phone" from "Odd-Table"')).toEqual([{ Phone: null }]);
  expect(await database.query('select id from gone_child union all select id from gone_parent')).toEqual([]);
});

it('a table whose condition contains "or" is downloaded once and cleaned', async () => {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  const description = {
    name: 'gone_call',
    key: ['id'],
    ofAccount: 'account_id = ? or false',
    isBound: false,
    removal: 'update',
    columns: [{ name: 'phone' }],
  };
  await database.query('create table gone_call (id integer primary key, account_id uuid, phone text)');
  await database.query('insert into gone_call select n, ?, n::text from generate_series(1, ?::int) n', [
    accountId,
    contacts,
  ]);
  await database.query('insert into personal_table values (?, ?::jsonb)', ['gone_call', JSON.stringify(description)]);
  const { gone_call: calls } = JSON.parse((await Array.fromAsync(exportForOwner(database, accountId))).join(''));
  expect(calls).toHaveLength(contacts);
  await deleteAccount(database, accountId);
  expect(await database.query('select id from gone_call where phone is not null')).toEqual([]);
});

it('an account that is deleted has no key', async () => {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  expect((await findAccount(database, accountId)).key?.hint).toMatch(/^dp-/);
  await deleteAccount(database, accountId);
  expect((await findAccount(database, accountId)).key).toBeUndefined();
});

it('the personal columns of a plugin are among what an owner can download', async () => {
  const accountId = await addContacts(20_001);
  const { contact, request_diary: diary } = JSON.parse(
    (await Array.fromAsync(exportForOwner(database, accountId))).join(''),
  );
  expect(contact).toHaveLength(contacts);
  expect(contact).toContainEqual({ phone: '+62 812 20001' });
  expect(diary).toContainEqual({ entry: 'slept badly' });
});

it('an owner downloads all columns of a request but those that only operators see', async () => {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  await database.query(
    `insert into request_log (id, started_at, instance, account_id, endpoint, method, path, outcome, canary, route, answered_model)
     values ('req_own', '2026-11-22', 'test', ?, 'chat', 'POST', '/v1/chat/completions', 'answered', 3, 'vendor/m', 'm-1')`,
    [accountId],
  );
  const { request } = JSON.parse((await Array.fromAsync(exportForOwner(database, accountId))).join(''));
  const hidden = ['account_id', 'answered_model', 'attempts', 'canary', 'is_other_model', 'route'];
  expect(
    Object.keys(columns)
      .filter((name) => !(name in request[0]))
      .toSorted(),
  ).toEqual(hidden);
  expect(request[0]).toMatchObject({ id: 'req_own', started_at: '2026-11-22T00:00:00.000Z' });
});

it('records are cleaned in batches of at most 500 rows, so that other queries need not wait', async () => {
  const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
  await database.query(
    `insert into request_log (id, started_at, instance, account_id, endpoint, method, path, outcome, user_agent)
     select ?::text || n, '2026-11-22', 'test', ?, 'chat', 'POST', '/v1/chat/completions', 'answered', 'curl'
     from generate_series(1, ?::int) n`,
    [accountId, accountId, contacts],
  );
  const batches: number[] = [];
  const query = (async (sql, parameters) => {
    const rows = await database.query(sql, parameters as unknown[]);
    if (sql.startsWith('update "request_log" ')) batches.push(rows.length);
    return rows;
  }) as Database['query'];
  await removeLateRecords({ fork: () => database.fork(), query }, accountId);
  expect(batches).toEqual([500, 500, 200]);
});

it.each(Object.entries<Column<never>>(columns).flatMap(([name, { isPersonal }]) => (isPersonal ? [name] : [])))(
  'the column %s of the records of requests is removed with the account',
  async (name) => {
    const { accountId } = await createAccount(database, 'dp', { name: 'Ani' });
    await database.query(
      `insert into request_log (id, started_at, instance, account_id, endpoint, method, path, outcome, ${name})
       select ?::text || n, '2026-11-22', 'test', ?, 'chat', 'POST', '/v1/chat/completions', 'answered', 'private'
       from generate_series(1, ?::int) n`,
      [accountId, accountId, contacts],
    );
    await deleteAccount(database, accountId);
    expect(
      await database.query(
        `select count(*)::int as records, count(${name})::int as values from request_log where account_id = ?`,
        [accountId],
      ),
    ).toEqual([{ records: contacts, values: 0 }]);
  },
);
