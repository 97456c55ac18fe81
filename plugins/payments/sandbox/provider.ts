import type { Host } from '#core/gateway/host/host.ts';
import {
  type Charge,
  type ChargeReference,
  type ChargeRequest,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
  type PaymentProvider,
  type RefundRequest,
} from '#core/business/payments/payment-provider.ts';
import { writeQris } from '#core/business/payments/qris.ts';
import { addCharge, addRefund, endCharge, hasRefund, listMoney, readCharge } from './charges.ts';
import { evidenceOf, readSandboxNotification } from './notification.ts';
import { sandboxSecret } from './secret.ts';

/**
 * A provider without a bank: its codes are valid, but wallets cannot pay them. Charges are paid on the page `/sandbox/{reference}` and by
 * `daypass sandbox`. They are stored in PostgreSQL, where a real provider would use its own systems.
 */
export const sandboxProvider: PaymentProvider = {
  name: 'sandbox',
  title: 'Sandbox',
  isSandbox: true,
  currencies: ['IDR'],
  connect: connectSandbox,
};

function connectSandbox(host: Host): PaymentConnection {
  const { database } = host;
  const held = sandboxSecret(host);
  return {
    callsPerSecond: 1_000,
    charge: (request) => asProvider(charge(host, request)),
    status: (reference) => asProvider(status(host, reference)),
    async cancel(reference) {
      await asProvider(endCharge(database, reference.reference, 'failed'));
      return asProvider(status(host, reference));
    },
    refund: (request) => asProvider(refund(host, request)),
    refundStatus: async ({ key }) => ({
      state: (await asProvider(hasRefund(database, key))) ? 'done' : 'unknown',
      raw: {},
    }),
    listMovements: async (span) => ({ movements: await asProvider(listMoney(database, span)) }),
    readNotification: (notification) => readSandboxNotification(notification, held.secret),
  };
}

/** Merchant fields with an unassigned acquirer domain and number. */
const accounts = [
  [
    '26',
    [
      ['00', 'ID.CO.EXAMPLE.WWW'],
      ['01', '936000000000000000'],
      ['02', 'SANDBOX'],
      ['03', 'UMI'],
    ],
  ],
  [
    '51',
    [
      ['00', 'ID.CO.QRIS.WWW'],
      ['02', 'ID0000000000000'],
      ['03', 'UMI'],
    ],
  ],
] as const;

async function charge({ database }: Host, request: ChargeRequest): Promise<Charge> {
  const { reference, amount, currency, expiresAt, notificationUrl } = request;
  const qr = writeQris({
    isDynamic: true,
    amount,
    merchantName: 'DEMO DO NOT PAY',
    merchantCity: 'NOWHERE',
    categoryCode: '5734',
    accounts,
    additional: [['01', reference.slice(0, 25)]],
  });
  await addCharge(database, { reference, amount, currency, qr, expiresAt, notificationUrl });
  const known = await readCharge(database, reference);
  if (known?.amount !== amount) throw new PaymentError('rejected', `${reference} was charged with another amount`);
  return { providerReference: known.providerReference, qr: known.qr, expiresAt: known.expiresAt };
}

async function status({ database }: Host, { reference, providerReference }: ChargeReference): Promise<PaymentEvidence> {
  const known = await readCharge(database, reference);
  return known === undefined ? { reference, providerReference, state: 'unknown', raw: {} } : evidenceOf(known);
}

async function refund({ database }: Host, { reference, key, amount }: RefundRequest) {
  if (await addRefund(database, reference, key, amount)) return { state: 'done', raw: { key, amount } } as const;
  throw new PaymentError('rejected', `${reference} has no Rp ${amount} to return`);
}

/** An unresponsive database acts like an unresponsive provider. */
async function asProvider<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    throw error instanceof PaymentError
      ? error
      : new PaymentError('unknown', 'The sandbox did not respond', { cause: error });
  });
}
