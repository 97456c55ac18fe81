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
import type { Host } from '#core/gateway/host/host.ts';
import { addCharge, addRefund, endCharge, hasRefund, listMovements, readCharge } from './charges.ts';
import { toEvidence, readSandboxNotification } from './notification.ts';
import { getSecretHolder } from './secret.ts';

/**
 * A provider without a bank. Its codes are valid, but no wallet can pay them. Charges are paid on the page `/sandbox/{reference}` or with
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
  const secretHolder = getSecretHolder(host);
  return {
    callsPerSecond: 1_000,
    charge: (request) => convertErrors(createCharge(host, request)),
    status: (reference) => convertErrors(readStatus(host, reference)),
    async cancel(reference) {
      await convertErrors(endCharge(database, reference.reference, 'failed'));
      return convertErrors(readStatus(host, reference));
    },
    refund: (request) => convertErrors(refund(host, request)),
    refundStatus: async ({ key }) => ({
      state: (await convertErrors(hasRefund(database, key))) ? 'done' : 'unknown',
      raw: {},
    }),
    listMovements: async (span) => ({ movements: await convertErrors(listMovements(database, span)) }),
    readNotification: (notification) => readSandboxNotification(notification, secretHolder.secret),
  };
}

/** Merchant fields whose acquirer domain and number are not assigned to anyone. */
const merchantAccounts = [
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

async function createCharge({ database }: Host, request: ChargeRequest): Promise<Charge> {
  const { reference, amount, currency, expiresAt, notificationUrl } = request;
  const qr = writeQris({
    isDynamic: true,
    amount,
    merchantName: 'DEMO DO NOT PAY',
    merchantCity: 'NOWHERE',
    categoryCode: '5734',
    accounts: merchantAccounts,
    additional: [['01', reference.slice(0, 25)]],
  });
  await addCharge(database, { reference, amount, currency, qr, expiresAt, notificationUrl });
  const storedCharge = await readCharge(database, reference);
  if (storedCharge?.amount !== amount)
    throw new PaymentError('rejected', `${reference} was charged with a different amount`);
  return { providerReference: storedCharge.providerReference, qr: storedCharge.qr, expiresAt: storedCharge.expiresAt };
}

async function readStatus(
  { database }: Host,
  { reference, providerReference }: ChargeReference,
): Promise<PaymentEvidence> {
  const storedCharge = await readCharge(database, reference);
  return storedCharge === undefined
    ? { reference, providerReference, state: 'unknown', raw: {} }
    : toEvidence(storedCharge);
}

async function refund({ database }: Host, { reference, key, amount }: RefundRequest) {
  if (await addRefund(database, reference, key, amount)) return { state: 'done', raw: { key, amount } } as const;
  throw new PaymentError('rejected', `${reference} has no Rp ${amount} to return`);
}

async function convertErrors<T>(work: Promise<T>): Promise<T> {
  // Reports a database error as a provider that does not respond.
  return work.catch((error: unknown) => {
    throw error instanceof PaymentError
      ? error
      : new PaymentError('unknown', 'The sandbox did not respond', { cause: error });
  });
}
