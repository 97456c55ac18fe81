import { randomUUID } from 'node:crypto';
import { Command as Parser } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PaymentConnection } from '#core/business/payments/payment-provider.ts';
import { readQris } from '#core/business/payments/qris.ts';
import { CommandFailed } from '#core/extension/commands/command.ts';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import { sandboxCommand } from '../../../../plugins/payments/sandbox/command.ts';
import { sandboxProvider } from '../../../../plugins/payments/sandbox/provider.ts';
import { createStageHost } from '../../../core/business/accounts/fixture.ts';
import { createUpstream, type RecordedRequest } from '../../../support/faulty-upstream.ts';
import { startGateway, type TestGateway, yamlFor } from '../../../support/gateway.ts';
import { PageClient } from '../../../support/page-client.ts';
import { requestFor, signal } from '../../payment-providers/fixture.ts';

let gateway: TestGateway;
let connection: PaymentConnection;
beforeAll(async () => {
  gateway = await startGateway({ yaml: yamlFor('http://127.0.0.1:9') });
  connection = sandboxProvider.connect(gateway.gateway.host);
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Creates a charge of a new order. */
async function charge(change: Parameters<typeof requestFor>[0] = {}) {
  const reference = `ORD-${randomUUID().slice(0, 8)}.1`;
  const made = await connection.charge(requestFor({ reference, ...change }), signal);
  return { ...made, reference };
}

const read = ({ headers, body }: RecordedRequest) =>
  connection.readNotification({
    headers: headers as Record<string, string>,
    body,
    query: new URLSearchParams(),
  });

/** Runs `daypass sandbox …`, and returns what it printed. */
async function sandbox(...words: string[]): Promise<string> {
  const lines: string[] = [];
  const program = new Parser('daypass').exitOverride().configureOutput({ writeErr: () => undefined });
  sandboxCommand.define(program.command('sandbox'), {
    withHost: async (work) => {
      await using host = createStageHost(gateway.database);
      return await explainErrors(work(host));
    },
    print: (line) => lines.push(line),
  });
  await program.parseAsync(['sandbox', ...words], { from: 'user' });
  return lines.join('\n');
}

/** A gateway elsewhere that answers its notifications. */
const listen = (status = 200) => createUpstream((_request, response) => response.json(status, {}));

describe('the sandbox', () => {
  it('draws a valid code of the amount that no bank has issued', async () => {
    const { qr, reference } = await charge();
    const payload = readQris(qr ?? '');
    expect(payload).toMatchObject({ isDynamic: true, amount: 25_000, merchantName: 'DEMO DO NOT PAY' });
    expect(payload.additional).toContainEqual(['01', reference]);
    expect(JSON.stringify(payload.accounts)).toMatch(/936000000000000000.*ID0000000000000/);
  });

  it('keeps a charge that is asked for twice', async () => {
    const first = await charge();
    const again = await connection.charge(requestFor({ reference: first.reference }), signal);
    expect(again.providerReference).toBe(first.providerReference);
    const other = connection.charge(requestFor({ reference: first.reference, amount: 1 }), signal);
    await expect(other).rejects.toMatchObject({ name: 'PaymentError', kind: 'rejected' });
  });

  it('survives the gateway that made the charge', async () => {
    const made = await charge();
    await using other = createStageHost(gateway.database);
    const status = await sandboxProvider.connect(other).status(made, signal);
    expect(status).toMatchObject({ state: 'pending', providerReference: made.providerReference });
  });

  it('lets a charge run out', async () => {
    const made = await charge({ expiresAt: new Date(Date.now() - 1_000) });
    expect((await connection.status(made, signal)).state).toBe('expired');
  });

  it('ends a charge, unless it is paid', async () => {
    const [open, paid] = [await charge(), await charge()];
    await sandbox('pay', paid.reference);
    expect((await connection.cancel?.(open, signal))?.state).toBe('failed');
    expect((await connection.cancel?.(paid, signal))?.state).toBe('paid');
  });

  it('does not know other charges', async () => {
    const unknown = { reference: 'ORD-NEVER.1', providerReference: undefined };
    expect((await connection.status(unknown, signal)).state).toBe('unknown');
  });

  it('returns money once for each key, and never more than was paid', async () => {
    const made = await charge();
    const refund = { ...made, amount: 20_000, currency: 'IDR', reason: 'asked for' };
    await expect(connection.refund?.({ ...refund, key: `${made.reference}-0` }, signal)).rejects.toMatchObject({
      kind: 'rejected',
    });
    await sandbox('pay', made.reference);
    for (let n = 0; n < 2; n++)
      expect((await connection.refund?.({ ...refund, key: `${made.reference}-1` }, signal))?.state).toBe('done');
    expect((await connection.status(made, signal)).state).toBe('paid');
    await expect(connection.refund?.({ ...refund, key: `${made.reference}-2` }, signal)).rejects.toMatchObject({
      kind: 'rejected',
    });
    await connection.refund?.({ ...refund, amount: 5_000, key: `${made.reference}-3` }, signal);
    expect((await connection.status(made, signal)).state).toBe('refunded');
    const asked = { ...refund, key: `${made.reference}-1` };
    expect((await connection.refundStatus?.(asked, signal))?.state).toBe('done');
  });
});

describe('daypass sandbox', () => {
  it('pays an order, and notifies its gateway with evidence', async () => {
    await using receiver = await listen();
    const made = await charge({ notificationUrl: receiver.url });
    const printed = await sandbox('pay', made.reference.slice(0, -2));
    expect(printed).toBe(`${made.reference}: paid, Rp\u00a025.000\nThe gateway answered the notification with 200.`);
    expect(read(await receiver.waitForRequest(1))).toMatchObject({
      reference: made.reference,
      providerReference: made.providerReference,
      evidence: { state: 'paid', paid: { amount: 25_000, currency: 'IDR' } },
    });
    expect(await connection.status(made, signal)).toMatchObject({ state: 'paid', paid: { amount: 25_000 } });
  });

  it.each([
    ['fail', 'failed'],
    ['expire', 'expired'],
  ])('%s ends it as %s', async (action, state) => {
    const made = await charge();
    await sandbox(action, made.reference);
    expect((await connection.status(made, signal)).state).toBe(state);
  });

  it('pay-late notifies of its end, and then of its payment', async () => {
    await using receiver = await listen();
    const made = await charge({ notificationUrl: receiver.url });
    await sandbox('pay-late', made.reference);
    const states = receiver.requests.map((request) => read(request)?.evidence?.state);
    expect(states).toEqual(['expired', 'paid']);
  });

  it('pay-wrong-amount pays half, or the given amount', async () => {
    const [half, told] = [await charge(), await charge()];
    await sandbox('pay-wrong-amount', half.reference);
    await sandbox('pay-wrong-amount', told.reference, '--amount', '24999');
    expect((await connection.status(half, signal)).paid?.amount).toBe(12_500);
    expect((await connection.status(told, signal)).paid?.amount).toBe(24_999);
  });

  it('notify repeats the notification, the same event each time', async () => {
    await using receiver = await listen();
    const made = await charge({ notificationUrl: receiver.url });
    await sandbox('pay', made.reference);
    await sandbox('notify', made.reference, '--times', '3');
    const keys = receiver.requests.map((request) => read(request)?.eventKey);
    expect([keys.length, new Set(keys).size]).toEqual([4, 1]);
  });

  it('says when no gateway answers', async () => {
    const made = await charge({ notificationUrl: 'http://127.0.0.1:9/hooks/sandbox' });
    expect(await sandbox('pay', made.reference)).toContain('No gateway responded at http://127.0.0.1:9/hooks/sandbox');
  });

  it('pays nothing twice, and nothing that has ended', async () => {
    const made = await charge();
    await sandbox('pay', made.reference);
    await expect(sandbox('pay', made.reference)).rejects.toThrow(
      `Charge ${made.reference} is paid, which does not allow this action`,
    );
    await expect(sandbox('expire', made.reference)).rejects.toBeInstanceOf(CommandFailed);
  });

  it('exits with 3 for what the sandbox does not have', async () => {
    await expect(sandbox('pay', 'ORD-NEVER')).rejects.toMatchObject({ exitCode: 3 });
  });
});

describe('a notification of the sandbox', () => {
  it('is refused when anything in it was changed', async () => {
    await using receiver = await listen();
    const made = await charge({ notificationUrl: receiver.url });
    await sandbox('pay', made.reference);
    const sent = await receiver.waitForRequest(1);
    expect(read({ ...sent, body: Buffer.from(sent.body.toString().replace('25000', '25001')) })).toBeUndefined();
    expect(read({ ...sent, headers: {} })).toBeUndefined();
    expect(read({ ...sent, headers: { 'x-sandbox-signature': '' } })).toBeUndefined();
  });
});

describe('the page of the sandbox', () => {
  it('pays as a bank would', async () => {
    const made = await charge();
    const browser = new PageClient(gateway.url);
    const page = await browser.get(`/sandbox/${made.reference}`);
    expect(page.text).toContain('Rp\u00a025.000');
    const path = `/sandbox/${made.reference}`;
    const paid = await browser.follow(await browser.submit(path, path, { action: 'pay' }));
    expect(paid.text).toContain('Paid. The order is updated within a second.');
    expect(paid.text).not.toContain('value="pay"');
    expect((await connection.status(made, signal)).state).toBe('paid');
  });

  it('says when something is not possible any more', async () => {
    const made = await charge();
    const browser = new PageClient(gateway.url);
    const path = `/sandbox/${made.reference}`;
    await browser.submit(path, path, { action: 'expire' });
    const refused = await browser.follow(await browser.submit(path, path, { action: 'pay' }));
    expect(refused.text).toContain('This is no longer possible.');
  });

  it('is in the language of the buyer', async () => {
    const made = await charge();
    const browser = new PageClient(gateway.url, { 'accept-language': 'id' });
    expect((await browser.get(`/sandbox/${made.reference}`)).text).toContain('Tidak ada uang yang berpindah.');
  });

  it('does not exist for other payments', async () => {
    expect((await new PageClient(gateway.url).get('/sandbox/ORD-NEVER')).status).toBe(404);
  });
});
