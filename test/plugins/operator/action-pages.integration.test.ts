import { describe, expect, it } from 'vitest';
import { findActivePeriod } from '#core/business/accounts/account-record.ts';
import { createAccount, findAccount } from '#core/business/accounts/accounts.ts';
import { listIdentities } from '#core/business/accounts/identity-links.ts';
import { grantDays } from '#core/business/accounts/ledger.ts';
import { recordAction } from '#core/business/operator-actions/operator-actions.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { readGiftCode } from '#core/business/payments/gifts.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import { Registry } from '#core/extension/registry.ts';
import { getConfigLoadState } from '#core/extension/validation/load-state.ts';
import { addUnauthenticated, startOfMinute } from '#core/gateway/records/unauthenticated.ts';
import { plugin } from '../../../plugins/operator/index.ts';
import { type ActionPage, describeActionPages, type Subject, useActionPages } from '../../support/action-pages.ts';
import { hiddenFields } from '../../support/page-client.ts';
import { redeemCode } from '../../support/redeem-code.ts';
import { listToldActions } from '../../support/told-actions.ts';

/*
 * Every page on which an operator does something, over HTTP: who may, what it says about wrong input, what it does and what is
 * recorded of it. A page without a row in `pages` fails the first test.
 */

const world = useActionPages(`payments: { gifts: true }
mail: { smtp: "smtp://127.0.0.1:9", from: shop@example.com }
`);
const { operator, reason } = world;

const account = async (slug: string, state: (id: string) => Promise<unknown>): Promise<Subject> => {
  const email = `${crypto.randomUUID()}@example.com`;
  const { accountId: id } = await createAccount(world.gateway.database, 'dp', { name: 'Rani', email });
  await world.gateway.database.query(
    `insert into identity (account_id, provider, subject, name) values (?, 'google', ?, '')`,
    [id, email],
  );
  return { path: `/operator/accounts/${id}/${slug}`, id, state: () => state(id) };
};
const isBlocked = async (id: string) => (await findAccount(world.gateway.database, id)).blockedAt !== undefined;
const signInsOf = async (id: string) =>
  (await listIdentities(world.gateway.database, id)).map(({ provider }) => provider);

/** Days that an account holds from now on. */
async function daysOf(id: string): Promise<number> {
  const record = await findAccount(world.gateway.database, id);
  const end = findActivePeriod(record, record.readAt)?.endsAt.getTime() ?? record.readAt;
  return Math.round((end - record.readAt) / 86_400_000);
}

async function order(amount?: number, isGift = false): Promise<Order> {
  const { host } = world.gateway.gateway;
  const { accountId } = await createAccount(world.gateway.database, 'dp', { name: 'Budi' });
  const { id, code, attempt } = await startOrder(host, accountId, 7, { isGift });
  if (amount !== undefined)
    await settle(world.gateway.gateway.host, 'sandbox', {
      reference: attempt?.reference ?? '',
      providerReference: attempt?.providerReference,
      paymentId: `pay-${code}`,
      state: 'paid',
      paid: { amount, currency: 'IDR' },
      raw: {},
    });
  return (await readOrder(world.gateway.database, { id })) as Order;
}

const read = async ({ id }: Order) => (await readOrder(world.gateway.database, { id })) as Order;
const stateOf = async (one: Order) => (await read(one)).state;

const noReason = [{ note: '' }, 'Fill in this field.'] as const;
const onlySpaces = [{ note: '  ' }, 'Fill in this field.'] as const;
const longReason = [{ note: 'x'.repeat(501) }, 'This is too long.'] as const;

const pages: readonly ActionPage[] = [
  {
    path: '/operator/flags/{id}',
    action: 'flag.resolve',
    async subject() {
      const flagged = await order(1_000);
      const state = async () => (await read(flagged)).flags.map(({ resolution }) => resolution);
      return { path: `/operator/flags/${flagged.flags[0]?.id}`, id: flagged.id, state };
    },
    wrong: [noReason, onlySpaces, longReason, [{ note: reason }, 'Fill in this field.']],
    right: { note: reason, outcome: 'money_back' },
    does: [[undefined], [reason]],
    note: `outcome: money_back, flag: wrong_amount, ${reason}`,
  },
  {
    path: '/operator/orders/{code}/refund/{payment}',
    action: 'order.refund',
    async subject() {
      const paid = await order(95_000);
      const state = async () =>
        (await read(paid)).refunds.map(({ amount, days, reason: why, isManual }) => [amount, days, why, isManual]);
      return { path: `/operator/orders/${paid.code}/refund/${paid.payments[0]?.id}`, id: paid.id, state };
    },
    wrong: [
      [{ note: '', amount: '30000' }, 'Fill in this field.'],
      [{ note: reason, amount: '95001', manual: 'true' }, 'This exceeds the remaining amount of the payment.'],
      [{ note: reason, amount: ' ', manual: 'true' }, 'Fill in this field.'],
      [{ note: reason, manual: 'true' }, 'Fill in this field.'],
      [{ note: reason, amount: '0', manual: 'true' }, 'That is not an amount above 0.'],
      [{ note: reason, amount: 'all of it', manual: 'true' }, 'That is not an amount above 0.'],
      [{ note: reason, amount: '30.00', manual: 'true' }, 'That is not an amount above 0.'],
    ],
    // As it is written in Indonesia; as a number it would be 30 rupiah.
    right: { note: reason, amount: '30.000', days_back: 'none', manual: 'true' },
    does: [[], [[30_000, 'none', reason, true]]],
    note: expect.stringMatching(`^payment: [\\w-]{36}, amount: 30000, days_back: none, manual: true, ${reason}$`),
  },
  {
    path: '/operator/accounts/{id}/block',
    action: 'account.block',
    subject: () => account('block', isBlocked),
    wrong: [noReason, onlySpaces, longReason],
    right: { note: reason },
    does: [false, true],
  },
  {
    path: '/operator/accounts/{id}/unblock',
    action: 'account.unblock',
    async subject() {
      const blocked = await account('unblock', isBlocked);
      await world.gateway.database.query('update account set blocked_at = now() where id = ?', [blocked.id]);
      return blocked;
    },
    right: {},
    does: [true, false],
    note: undefined,
  },
  {
    path: '/operator/accounts/{id}/resume',
    action: 'account.resume',
    async subject() {
      const paused = await account('resume', isBlocked);
      await world.gateway.database.query('update account set blocked_at = now(), paused_at = now() where id = ?', [
        paused.id,
      ]);
      return paused;
    },
    wrong: [noReason, onlySpaces, longReason],
    right: { note: reason },
    does: [true, false],
  },
  {
    path: '/operator/accounts/{id}/add-days',
    action: 'account.add_days',
    subject: () => account('add-days', daysOf),
    wrong: [
      [{ days: '3', note: '' }, 'Fill in this field.'],
      [{ days: '0', note: reason }, 'Enter a number other than 0.'],
      [{ days: '1.5', note: reason }, 'Enter a whole number from -365 to 365.'],
      [{ days: '366', note: reason }, 'Enter a whole number from -365 to 365.'],
      [{ days: '3', label: 'x'.repeat(61), note: reason }, 'This is too long.'],
    ],
    right: { days: '3', note: reason },
    does: [0, 3],
    note: `days: 3, ${reason}`,
  },
  {
    path: '/operator/accounts/{id}/note',
    action: 'account.note',
    subject: () =>
      account('note', async (id) => {
        const notes = await listToldActions(world.gateway.database, { subject: id, limit: 10 });
        return notes.filter(({ outcome }) => outcome === 'done').map(({ note }) => note);
      }),
    wrong: [noReason, onlySpaces, longReason],
    right: { note: reason },
    does: [[], [reason]],
  },
  {
    path: '/operator/accounts/{id}/change-email',
    action: 'account.change_email',
    async subject() {
      await world.gateway.database.query(`update account set email = null where email = 'new@example.com'`);
      return account('change-email', async (id) => (await findAccount(world.gateway.database, id)).email);
    },
    wrong: [
      [{ to: 'other@example.com', note: '' }, 'Fill in this field.'],
      [{ to: '', note: reason }, 'Fill in this field.'],
      [{ to: 'nobody', note: reason }, 'That is not an e-mail address.'],
      [{ to: 'OPS@example.com', note: reason }, 'That is an operator&#39;s address.'],
      [{ to: 'Customer@example.com', note: reason }, 'Another account has this address.'],
    ],
    right: { to: 'new@example.com', note: reason },
    does: [expect.stringMatching(/^[\w-]{36}@example.com$/), 'new@example.com'],
    note: `to: new@example.com, ${reason}`,
  },
  {
    path: '/operator/accounts/{id}/remove-sign-in',
    action: 'account.remove_sign_in',
    subject: () => account('remove-sign-in', signInsOf),
    wrong: [
      [{ sign_in: 'google', note: '' }, 'Fill in this field.'],
      [{ sign_in: '', note: reason }, 'Fill in this field.'],
      [{ sign_in: 'github', note: reason }, 'Account or sign-in not found.'],
    ],
    right: { sign_in: 'google', note: reason },
    does: [['google'], []],
    note: `sign_in: google, ${reason}`,
  },
  {
    path: '/operator/accounts/{id}/move-sign-in',
    action: 'account.move_sign_in',
    async subject() {
      const { database, accountId } = world.gateway;
      await database.query(`update account set name = 'Other' where id = ?`, [accountId]);
      await database.query('delete from identity where account_id = ?', [accountId]);
      const from = await account('move-sign-in', signInsOf);
      return { ...from, state: async () => [await from.state(), await signInsOf(accountId)] };
    },
    wrong: [
      [{ sign_in: 'google', to: 'Other', note: '' }, 'Fill in this field.'],
      [{ sign_in: 'google', to: '', note: reason }, 'Fill in this field.'],
      [{ sign_in: 'google', to: 'nobody@example.com', note: reason }, 'Account or sign-in not found.'],
      [{ sign_in: 'google', to: operator, note: reason }, 'That is an operator&#39;s address.'],
      [{ sign_in: 'google', to: 'Rani', note: reason }, 'Several accounts match. Use the ID.'],
      [{ sign_in: 'google', to: 'x'.repeat(201), note: reason }, 'This is too long.'],
    ],
    right: { sign_in: 'google', to: 'Other', note: reason },
    does: [
      [['google'], []],
      [[], ['google']],
    ],
    note: expect.stringMatching(new RegExp(`^sign_in: google, to: [\\da-f-]{36}, ${reason}$`)),
  },
  {
    path: '/operator/accounts/{id}/delete',
    action: 'account.delete',
    subject: () =>
      account('delete', async (id) => (await findAccount(world.gateway.database, id)).deletedAt !== undefined),
    wrong: [
      [{ confirm: '', note: reason }, 'Fill in this field.'],
      [{ confirm: 'other@example.com', note: reason }, 'That is not the address of this account.'],
      [{ confirm: operator, note: reason }, 'That is not the address of this account.'],
    ],
    right: async ({ id }) => ({ confirm: (await findAccount(world.gateway.database, id)).email ?? '', note: reason }),
    does: [false, true],
  },
  {
    path: '/operator/refunds/{key}/close',
    action: 'refund.close',
    async subject() {
      const paid = await order(95_000);
      const key = `${paid.code}-R1`;
      await world.gateway.database.query(
        `insert into refund (key, order_id, payment_id, amount, currency, state, reason) values (?, ?, ?, 95000, 'IDR', 'sent', '')`,
        [key, paid.id, paid.payments[0]?.id],
      );
      const state = async () => (await read(paid)).refunds.map((refund) => refund.state);
      return { path: `/operator/refunds/${key}/close`, id: paid.id, state };
    },
    wrong: [noReason, onlySpaces, longReason, [{ note: reason }, 'Fill in this field.']],
    right: { as: 'failed', note: reason },
    does: [['sent'], ['failed']],
    note: expect.stringMatching(`^as: failed, refund: ORD-\\w+-R1, ${reason}$`),
  },
  {
    path: '/operator/orders/{code}/check',
    action: 'order.check',
    async subject() {
      const open = await order();
      await world.gateway.database.query(
        `update payments_sandbox_charge set state = 'paid', paid_amount = amount, payment_id = 'late', paid_at = now()
         where reference = ?`,
        [open.attempt?.reference],
      );
      return { path: `/operator/orders/${open.code}/check`, id: open.id, state: () => stateOf(open) };
    },
    right: {},
    does: ['pending', 'paid'],
    note: undefined,
  },
  {
    path: '/operator/orders/{code}/cancel',
    action: 'order.cancel',
    async subject() {
      const open = await order();
      return { path: `/operator/orders/${open.code}/cancel`, id: open.id, state: () => stateOf(open) };
    },
    wrong: [noReason, onlySpaces, longReason],
    right: { note: reason },
    does: ['pending', 'cancelled'],
  },
  {
    path: '/operator/configuration/{number}',
    action: 'configuration.rollback',
    async subject() {
      const { changes } = getConfigLoadState(world.gateway.gateway.host);
      if (changes === undefined) throw new Error('the gateway has not started');
      const { history } = changes.documents;
      await history.release();
      await world.gateway.write(`${world.yaml}# ${crypto.randomUUID()}\n`);
      await world.gateway.gateway.reload();
      await expect.poll(async () => (await history.list(1))[0]?.digest).toBe(changes.serving()?.digest);
      const before = await history.findPrevious(changes.serving()?.digest ?? '');
      const state = async () => (await history.findRollback())?.note;
      const path = `/operator/configuration/${before?.id}`;
      // Each line of the difference on a line of the page.
      expect((await world.ops.get(path)).text).toMatch(/\n<span class="(?:added|removed)">/);
      return { path, id: 'configuration', state };
    },
    wrong: [noReason, onlySpaces, longReason],
    right: { note: reason },
    does: [undefined, reason],
    note: expect.stringMatching(`^configuration: \\d+, ${reason}$`),
  },
];

const actionsOn = (subject: string) => listToldActions(world.gateway.database, { subject, limit: 20 });

it('every page with a form of an operator is tested here', async () => {
  const registry = new Registry();
  await plugin.register({ gateway: registry } as never, {} as never);
  const withForms = registry.pages.filter(({ role, forms = [] }) => role === 'operator' && forms.length > 0);
  expect(pages.map(({ path }) => path).toSorted()).toEqual(withForms.map(({ path }) => path).toSorted());
});

describeActionPages(pages, () => world);

it('an action that the state of its subject does not allow is refused, and recorded as failed', async () => {
  const paid = await order(95_000);
  const path = `/operator/orders/${paid.code}/cancel`;
  const { status, text } = await world.ops.submit(path, path, { note: reason });
  expect([status, text.includes('Its state does not allow this.')]).toEqual([422, true]);
  expect(await stateOf(paid)).toBe('paid');
  const error = `Order ${paid.code} is paid; it cannot be cancelled.`;
  expect(await actionsOn(paid.id)).toMatchObject([{ operator, outcome: 'failed', note: reason, error }]);
});

describe('the account of an operator', () => {
  const idOf = async () => {
    const [row] = await world.gateway.database.query<{ id: string }>('select id from account where email = ?', [
      operator,
    ]);
    return row?.id ?? '';
  };

  it.each([
    ['block', { note: reason }],
    ['delete', { confirm: operator, note: reason }],
    ['change-email', { to: 'new-ops@example.com', note: reason }],
    ['remove-sign-in', { sign_in: 'local', note: reason }],
    ['move-sign-in', { sign_in: 'local', to: 'customer@example.com', note: reason }],
  ])('is not locked out by %s', async (slug, fields) => {
    const id = await idOf();
    const path = `/operator/accounts/${id}/${slug}`;
    const { status, text } = await world.ops.submit(path, path, fields);
    expect([status, text.includes('This account is an operator.')]).toEqual([422, true]);
    expect(await findAccount(world.gateway.database, id)).toMatchObject({ email: operator, blockedAt: undefined });
    expect(await signInsOf(id)).toEqual(['local']);
    expect((await actionsOn(id))[0]).toMatchObject({ operator, outcome: 'failed' });
  });

  it('is shown as one, without what is refused', async () => {
    const { text } = await world.ops.get(`/operator/accounts/${await idOf()}`);
    expect(text).toContain('Operator, by gateway.yaml');
    expect([text.includes('/block"'), text.includes('/add-days"')]).toEqual([false, true]);
  });
});

it('a part that is refunded leaves the days, unless the operator has chosen otherwise', async () => {
  const paid = await order(95_000);
  const path = `/operator/orders/${paid.code}/refund/${paid.payments[0]?.id}`;
  const [, first] = /<select id="days_back"[^>]*><option value="([^"]*)"/.exec((await world.ops.get(path)).text) ?? [];
  await world.ops.submit(path, path, { note: reason, amount: '30000', days_back: first ?? 'none', manual: 'true' });
  expect((await read(paid)).refunds).toMatchObject([{ amount: 30_000, days: 'none', state: 'done' }]);
  expect(first).toBe('');
});

it('a payment whose refund is under way offers no other one', async () => {
  const paid = await order(95_000);
  const path = `/operator/orders/${paid.code}/refund/${paid.payments[0]?.id}`;
  const offered = async () => (await world.ops.get(`/operator/orders/${paid.code}`)).text.includes(path);
  expect(await offered()).toBe(true);
  await world.gateway.database.query(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, is_manual, reason)
     values (?, ?, ?, 30000, 'IDR', 'sent', 'none', false, 'asked for')`,
    [`${paid.code}-R1`, paid.id, paid.payments[0]?.id],
  );
  expect(await offered()).toBe(false);
  const { status, text } = await world.ops.get(path);
  expect([status, text.includes('A refund of this payment is under way.')]).toEqual([409, true]);
});

it('a page in Indonesian says in Indonesian what no operator has written of a refund and a flag', async () => {
  const paid = await order(95_000);
  await world.gateway.database.query(
    `insert into refund (key, order_id, payment_id, amount, currency, state, days, is_manual, reason, finished_at)
     values (?, ?, ?, 95000, 'IDR', 'done', 'none', false, 'refunded at the provider', now())`,
    [`${paid.code}-R1`, paid.id, paid.payments[0]?.id],
  );
  await world.gateway.database.query(
    `insert into order_flag (id, order_id, kind, subject, resolved_at, resolution)
     values (gen_random_uuid(), ?, 'not_at_provider', 'one', now(), 'found in the books of sandbox')`,
    [paid.id],
  );
  for (const page of [`orders/${paid.code}`, `accounts/${paid.accountId}`]) {
    const { text } = await world.ops.get(`/operator/${page}`, { 'accept-language': 'id' });
    expect([page, text.includes('di-refund di penyedia'), text.includes('ditemukan di pembukuan sandbox')]).toEqual([
      page,
      true,
      true,
    ]);
    expect(text).not.toMatch(/refunded at the provider|found in the books/);
  }
});

it('the page of an order tells its payments apart', async () => {
  const paid = await order(95_000);
  await world.gateway.database.query(
    `insert into payment (id, order_id, reference, provider, payment_id, amount, currency, paid_at, outcome, raw)
     select gen_random_uuid(), order_id, reference, provider, 'second', amount, currency, now(), 'second', '{}'
     from payment where order_id = ?`,
    [paid.id],
  );
  const { text } = await world.ops.get(`/operator/orders/${paid.code}`);
  expect([...text.matchAll(/>(Refund [^<]+)</g)].map(([, label]) => label?.replace('\u00a0', ' '))).toEqual([
    'Refund Rp 95.000 (Activated)',
    'Refund Rp 95.000 (Second payment)',
  ]);
});

it('the page of a gift names and links who redeemed it', async () => {
  const gift = await order(95_000, true);
  const friend = await account('', signInsOf);
  await redeemCode(
    world.gateway.database,
    friend.id,
    (await readGiftCode(world.gateway.database, gift))?.written ?? '',
  );
  const { email } = await findAccount(world.gateway.database, friend.id);
  const { text } = await world.ops.get(`/operator/orders/${gift.code}`);
  expect(text).toContain(`<dt>Redeemed by</dt><dd><a href="/operator/accounts/${friend.id}">${email}</a>`);
});

it('the page of a flag leads to its order, where the payment can be refunded', async () => {
  const { code, flags } = await order(1_000);
  const { text } = await world.ops.get(`/operator/flags/${flags[0]?.id}`);
  expect(text).toContain(`<a href="/operator/orders/${code}">${code}</a>`);
});

it('the record of all actions leads to the account, order or route that each was about', async () => {
  const { id, code, accountId } = await order(95_000);
  const subjects = [
    ['account.note', accountId, `/operator/accounts/${accountId}`],
    ['order.check', id, `/operator/orders/${code}`],
    ['route.reset', 'one/model-there', '/operator/routes'],
    ['books.reconcile', 'books', undefined],
  ] as const;
  for (const [action, subject] of subjects)
    await recordAction(
      world.gateway.database,
      { operator: { id: crypto.randomUUID(), name: operator }, action, subject, details: {} },
      () => Promise.resolve(),
    );
  const { text } = await world.ops.get('/operator/health');
  const table = text.slice(text.indexOf('Operator actions'));
  const rows = [...table.matchAll(/<tr[^>]*>.*?<\/tr>/gs)].slice(1, subjects.length + 1);
  expect(rows.map(([row]) => /href="([^"]*)"/.exec(row)?.[1])).toEqual(subjects.map(([, , path]) => path).toReversed());
});

it('the page Health names who sends requests without an account', async () => {
  const minute = startOfMinute(Date.now());
  await world.gateway.database.query('delete from unauthenticated_minute');
  await addUnauthenticated(world.gateway.database, [
    { minute, block: '203.0.113.0/24', status: 429, requests: 6_133 },
    { minute, block: '203.0.113.0/24', status: 401, requests: 64 },
    { minute, block: undefined, status: undefined, requests: 2_000 },
  ]);
  const { text } = await world.ops.get('/operator/health');
  const table = text.slice(text.indexOf('Requests without an account, 24 h'));
  const rows = [...table.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)]
    .slice(1, 3)
    .map(([, row = '']) =>
      [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim()),
    );
  expect(rows.map((cells) => cells.slice(0, 3))).toEqual([
    ['203.0.113.0/24', '6,197', '6,133 × 429, 64 × 401'],
    ['All others', '2,000', '2,000 × client left'],
  ]);
});

it('the overview names an action whose process ended meanwhile, and leads to what it was about', async () => {
  const { id: subject, code } = await order(95_000);
  const { database } = world.gateway;
  const by = { id: crypto.randomUUID(), name: operator };
  await recordAction(database, { operator: by, action: 'order.refund', subject, details: {} }, () => Promise.resolve());
  await database.query(
    `update operator_action set finished_at = null, created_at = now() - interval '1 hour' where subject = ?`,
    [subject],
  );
  const { text } = await world.ops.get('/operator');
  const line = text.slice(text.indexOf('Not finished')).split('</li>')[0] ?? '';
  expect(line.replaceAll(/<svg.*?<\/svg>|<[^>]*>/gs, '')).toContain(
    `${code}, Asked for a refund (${operator}): its process ended before it finished`,
  );
  expect(line).toContain(`href="/operator/orders/${code}"`);
});

it('an account without a sign-in offers none to move or remove', async () => {
  const { id } = await account('', signInsOf);
  const offered = async () =>
    (await world.ops.get(`/operator/accounts/${id}`)).text.match(/\/(?:move|remove)-sign-in"/g);
  expect(await offered()).toHaveLength(2);
  const form = `/operator/accounts/${id}/remove-sign-in`;
  const fields = { ...hiddenFields((await world.ops.get(form)).text, form), note: reason };
  await world.gateway.database.query('delete from identity where account_id = ?', [id]);
  expect(await offered()).toBeNull();
  // The form was open meanwhile.
  for (const { status, text } of [await world.ops.get(form), await world.ops.post(form, fields)])
    expect([status, text.includes('Account or sign-in not found.')]).toEqual([404, true]);
});

it('the page of an account names days without a label in the reader’s language', async () => {
  const { id } = await account('', daysOf);
  await grantDays(world.gateway.database, id, { days: 1, note: 'bought' });
  const reader = { 'accept-language': 'id' };
  expect((await world.ops.get(`/operator/accounts/${id}`, reader)).text).toMatch(/<dd[^>]*>\s*1 hari\s*</);
});

it('an account with an order that can still be paid is not deleted', async () => {
  const open = await order();
  const path = `/operator/accounts/${open.accountId}/delete`;
  const { status, text } = await world.ops.submit(path, path, { confirm: open.accountId });
  expect([status, text.includes('An order of this account can still be paid.')]).toEqual([422, true]);
});
