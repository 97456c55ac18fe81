import { expect, it } from 'vitest';
import { findActivePeriod } from '#core/business/accounts/account-record.ts';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { findOutage } from '../../../plugins/outages/credit.ts';
import { type ActionPage, describeActionPages, useActionPages } from '../../support/action-pages.ts';

const world = useActionPages(`outages: { credit: true }
`);
const { reason } = world;

/** Days that an account holds from now on. */
async function daysOf(id: string): Promise<number> {
  const record = await findAccount(world.gateway.database, id);
  const end = findActivePeriod(record, record.readAt)?.endsAt.getTime() ?? record.readAt;
  return Math.round((end - record.readAt) / 86_400_000);
}

/** @param isConfirmed false for one that waits for the operator, also after he has given others back */
async function addOutage(isConfirmed = true): Promise<string> {
  const id = crypto.randomUUID();
  await world.gateway.database.query(
    `insert into outage (id, incident_id, model, from_at, until_at, is_confirmed)
     values (?, ?, 'dp/gpt-6-sol', clock_timestamp() - interval '2 hours', clock_timestamp() - interval '1 hour', ?)`,
    [id, crypto.randomUUID(), isConfirmed],
  );
  return id;
}

const noReason = [{ note: '' }, 'Fill in this field.'] as const;
const onlySpaces = [{ note: '  ' }, 'Fill in this field.'] as const;
const longReason = [{ note: 'x'.repeat(501) }, 'This is too long.'] as const;

const pages: readonly ActionPage[] = [
  {
    path: '/operator/accounts/outage',
    action: 'outage.grant_days',
    async subject() {
      const { accountId: id } = await createAccount(world.gateway.database, 'dp', { name: 'Rani' });
      await grantDays(world.gateway.database, id, { days: 1, note: 'bought' });
      // The zone of the service, because this reader's is not known.
      const zone = new Intl.DateTimeFormat('sv-SE', {
        timeZone: 'Asia/Jakarta',
        dateStyle: 'short',
        timeStyle: 'short',
      });
      const [since, until] = [-1, 1].map((hours) => zone.format(Date.now() + hours * 3_600_000).replace(' ', 'T'));
      const span = `since=${since}&until=${until}`;
      return { path: `/operator/accounts/outage?${span}`, id: 'outage', state: () => daysOf(id) };
    },
    wrong: [
      [{ days: '1', label: 'Sorry', note: '' }, 'Fill in this field.'],
      [{ days: '1', label: ' ', note: reason }, 'Fill in this field.'],
      [{ days: '31', label: 'Sorry', note: reason }, 'Enter a whole number from 1 to 30.'],
      [{ days: '1', label: 'Sorry', note: reason, since: '2026-02-31T10:00' }, 'Check this field.'],
      [{ days: '1', label: 'Sorry', note: reason, until: '2026-01-01T10:00' }, 'The beginning must be before the end.'],
      [{ days: '1', label: 'Sorry', note: reason, model: 'dp/nothing' }, 'This gateway has no such model.'],
    ],
    right: async () => ({ days: '2', label: 'Sorry', note: crypto.randomUUID() }),
    does: [1, 3],
    note: expect.stringMatching(/^since: .+Z, until: .+Z, days: 2, label: Sorry, [\w-]{36}$/),
  },
  {
    path: '/operator/accounts/outage/{outage}/decline',
    action: 'outage.decline',
    async subject() {
      const id = await addOutage();
      const state = async () => (await findOutage(world.gateway.database, id)).declinedAt !== undefined;
      return { path: `/operator/accounts/outage/${id}/decline`, id: 'outage', state };
    },
    wrong: [noReason, onlySpaces, longReason],
    right: { note: reason },
    does: [false, true],
    note: expect.stringMatching(`^outage: [\\w-]{36}, model: dp/gpt-6-sol, since: .+Z, until: .+Z, ${reason}$`),
  },
];

describeActionPages(pages, () => world);

const isOutageAsked = async () =>
  (await world.ops.get('/operator')).text.includes('Decide about the outage of dp/gpt-6-sol');

it('the overview asks about an outage until the operator has decided', async () => {
  const id = await addOutage();
  expect(await isOutageAsked()).toBe(true);
  await world.gateway.database.query('update outage set declined_at = clock_timestamp()');
  expect(await isOutageAsked()).toBe(false);
  await world.gateway.database.query(
    'update outage set declined_at = null, credited_at = clock_timestamp() where id = ?',
    [id],
  );
  await addOutage();
  expect(await isOutageAsked()).toBe(false);
  const decline = await world.ops.get(`/operator/accounts/outage/${id}/decline`);
  expect([decline.status, decline.text]).toEqual([
    409,
    expect.stringContaining('Customers have already got this time back.'),
  ]);
  await addOutage(false);
  expect(await isOutageAsked()).toBe(true);
});

it('the home page tells of time that came back, below what there is to do', async () => {
  const id = await addOutage();
  const [{ id: account = '' } = {}] = await world.gateway.database.query<{ id: string }>(
    `select id from account where email = 'customer@example.com'`,
  );
  await world.gateway.database.query('insert into outage_credit (outage_id, account_id, seconds) values (?, ?, 1380)', [
    id,
    account,
  ]);
  expect((await world.customer.get('/dashboard')).text).toMatch(/\+ 23 minutes: dp\/gpt-6-sol was down on/);
  expect((await world.ops.get('/dashboard')).text).not.toContain('was down on');
});
