import { describe, expect, it } from 'vitest';
import { createAccount } from '#core/business/accounts/accounts.ts';
import { startOrder } from '#core/business/payments/checkout.ts';
import { type Order, readOrder } from '#core/business/payments/order.ts';
import { settle } from '#core/business/payments/settle.ts';
import { describeActionPages, useActionPages } from '../../support/action-pages.ts';

const world = useActionPages(`mail: { smtp: "smtp://127.0.0.1:9", from: shop@example.com }
`);
const { reason } = world;

async function paidOrder(): Promise<Order> {
  const { host } = world.gateway.gateway;
  const { accountId } = await createAccount(world.gateway.database, 'dp', { name: 'Budi' });
  const { id, code, attempt } = await startOrder(host, accountId, 7);
  await settle(host, 'sandbox', {
    reference: attempt?.reference ?? '',
    providerReference: attempt?.providerReference,
    paymentId: `pay-${code}`,
    state: 'paid',
    paid: { amount: 95_000, currency: 'IDR' },
    raw: {},
  });
  return (await readOrder(world.gateway.database, { id })) as Order;
}

/** Enters a receipt with this outcome. @returns its id, and the order that it is about */
async function receipt(state: string, error: string): Promise<{ id: string; about: Order }> {
  const about = await paidOrder();
  const [{ id = '' } = {}] = await world.gateway.database.query<{ id: string }>(
    `insert into mail_message (event_id, account_id, state, error, finished_at)
     select id, ?, ?, ?, clock_timestamp() from account_event where name = 'order.paid' and payload ->> 'orderId' = ?
     on conflict (event_id, channel) do update set state = excluded.state, error = excluded.error, finished_at = excluded.finished_at
     returning event_id::text as id`,
    [about.accountId, state, error, about.id],
  );
  return { id, about };
}

const mailState = async (id: string) => {
  const [row] = await world.gateway.database.query<{ state: string }>(
    'select state from mail_message where event_id = ?',
    [id],
  );
  return row?.state === 'sending' ? 'waiting' : row?.state;
};

describeActionPages(
  [
    {
      path: '/operator/mails/{id}/send-again',
      action: 'mail.send_again',
      async subject() {
        const { id, about } = await receipt('failed', '550 5.1.1 unknown user');
        await world.gateway.database.query(`update account set email = ? where id = ?`, [
          `${id}@example.com`,
          about.accountId,
        ]);
        return { path: `/operator/mails/${id}/send-again`, id: about.id, state: () => mailState(id) };
      },
      wrong: [[{ note: 'x'.repeat(501) }, 'This is too long.']],
      right: { note: reason },
      does: ['failed', 'waiting'],
      note: `mailed: order.paid, ${reason}`,
    },
  ],
  () => world,
);

describe('the outcome of a mail', () => {
  it.each([
    ['failed', '550 5.1.1 unknown user', 'Not delivered'],
    ['uncertain', 'the server closed the connection', 'Perhaps not delivered'],
  ])(
    'that is %s is on the pages of the order and the account, in the list of mails and among the needs',
    async (state, error, words) => {
      const { id, about } = await receipt(state, error);
      for (const path of [
        `/operator/orders/${about.code}`,
        `/operator/accounts/${about.accountId}`,
        '/operator/mails',
        '/operator',
      ]) {
        const { text } = await world.ops.get(path);
        for (const part of [words, error, `/operator/mails/${id}/send-again`, 'Send again'])
          expect(text, path).toContain(part);
      }
    },
  );

  it('that was sent is on the pages of the order and the account alone', async () => {
    const { id, about } = await receipt('sent', '');
    for (const path of [`/operator/orders/${about.code}`, `/operator/accounts/${about.accountId}`])
      expect((await world.ops.get(path)).text).toContain('Handed to the server');
    for (const path of ['/operator/mails', '/operator'])
      expect((await world.ops.get(path)).text).not.toContain(`/mails/${id}/`);
  });

  it('and a mail that does not exist are two things', async () => {
    for (const id of ['1', 'x', '9'.repeat(30)])
      expect((await world.ops.get(`/operator/mails/${id}/send-again`)).status).toBe(404);
  });
});
