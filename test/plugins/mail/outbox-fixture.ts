import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { recordEvent } from '#core/business/accounts/account-events.ts';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { EventTypes } from '#core/gateway/events/events.ts';
import type { Database } from '#core/platform/database/database.ts';
import { sendDueMails } from '../../../plugins/mail/send-mails.ts';
import { clearDatabase, createTestDatabase, silentLog } from '../../support/database.ts';
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts';
import { registeredHere, tablesHere } from '../../support/registered.ts';

export const registry = await registeredHere();

/** Longer than any pause of a busy machine. */
export const unhurried = { connect: 30_000, greeting: 30_000, idle: 30_000, mail: 30_000 };

/** What a file's tests send mails with: one database for all of them; the account, which Ani has, and the server are new for each. */
interface Outbox {
  database: Database;
  /** Takes every mail, until a test puts another one in its place. */
  server: TestMailServer;
  accountId: string;
}

/** The words of a mail, without the encoding of its parts. */
function decode(raw: string): string {
  const bytes = raw
    .replace(/=\r\n/g, '')
    .replace(/=([\dA-F]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Opens an outbox for each test of the file. */
export function useOutbox() {
  const outbox = {} as Outbox;
  beforeAll(async () => {
    outbox.database = await createTestDatabase(silentLog, await tablesHere());
  });
  afterAll(() => outbox.database?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    const { database } = outbox;
    await clearDatabase(database);
    outbox.server = await startMailServer();
    const { accountId } = await createAccount(database, 'dp', { name: 'Ani <b>', email: 'ani@example.com' });
    outbox.accountId = accountId;
    await database.query(`update account set created_at = now() - interval '30 days' where id = ?`, [accountId]);
  });
  afterEach(() => outbox.server[Symbol.asyncDispose]());

  const settings = (port = outbox.server.port) => ({
    smtp: `smtp://127.0.0.1:${port}`,
    from: 'no-reply@gateway.example',
  });

  const createHost = (mail: object = settings()) => createTestHost({ database: outbox.database, sections: { mail } });

  async function send(
    mail?: object,
    timeouts: Partial<typeof unhurried> = {},
    mailKinds: typeof registry.mailKinds = registry.mailKinds,
  ): Promise<readonly string[]> {
    await using host = createHost(mail);
    await sendDueMails(host, { ...registry, mailKinds }, { ...unhurried, ...timeouts });
    return host.lines;
  }

  const record = <Name extends keyof EventTypes>(name: Name, payload: EventTypes[Name]) =>
    outbox.database.fork().transactional((tx) => recordEvent(tx, name, payload, randomUUID()));

  const rotate = () => record('key.rotated', { accountId: outbox.accountId, keyId: randomUUID() });

  /** Enters a paid order. @returns its id */
  async function addOrder(): Promise<string> {
    const orderId = randomUUID();
    await outbox.database.query(
      `with o as (
         insert into plan_order (id, code, account_id, days, price, currency, label, provider, state, expires_at, paid_at)
         values (?, 'ORD-TEST', ?, 7, 95000, 'IDR', 'for weekly work', 'sandbox', 'paid', now(), now())
       ), a as (
         insert into payment_attempt (reference, order_id, number, provider, amount, currency, expires_at)
         values ('ORD-TEST-1', ?, 1, 'sandbox', 95000, 'IDR', now())
       )
       insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, issuer, outcome, raw)
       values (gen_random_uuid(), ?, 'ORD-TEST-1', 'sandbox', 'p', 95000, 'IDR', '2026-11-22 05:00Z', 'Bank <Jago>', 'activated', '{}')`,
      [orderId, outbox.accountId, orderId, orderId],
    );
    return orderId;
  }

  const states = async () => {
    const rows = await outbox.database.query<{ state: string; error: string | null }>(
      'select state, error from mail_message order by event_id',
    );
    return rows.map(({ state, error }) => (error === null ? state : `${state}: ${error}`));
  };

  const words = (index = 0) => decode(outbox.server.received[index]?.raw ?? '');

  /** @returns the id of an announcement that has begun */
  async function announce(until: string): Promise<string> {
    const id = randomUUID();
    await outbox.database.query(
      `insert into announcement (id, kind, audience, text_en, text_id, starts_at, ends_at, created_by)
       values (?, 'note', 'all', 'We move.', 'Kami pindah.', '2020-01-01T00:00Z', ?, 'ops')`,
      [id, until],
    );
    return id;
  }

  /** Lets the next run try what waits. */
  const makeDue = () => outbox.database.query('update mail_message set next_at = now()');

  return Object.assign(outbox, {
    settings,
    createHost,
    send,
    record,
    rotate,
    addOrder,
    states,
    words,
    announce,
    makeDue,
  });
}
