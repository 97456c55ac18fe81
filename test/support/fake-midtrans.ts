import { createHash, randomUUID } from 'node:crypto';
import {
  type FakeAnswer,
  type FakeCharge,
  type FakeNotification,
  type FakeOptions,
  FakeProvider,
  type FakeRequest,
} from './fake-provider.ts';

const schedule = [2, 10, 30, 90, 210]; // minutes from the first delivery of a notification to its repetitions

interface MidtransOptions extends FakeOptions {
  readonly serverKey?: string;
  readonly merchantId?: string;
  readonly hasQrString?: boolean; // false: charges contain only the URL of an image, as on the reference page
  readonly isLoud?: boolean; // status texts are in upper case, as the status API has returned them for other channels
}

/** Midtrans Core API, QRIS: status codes in bodies, times in GMT+7 without a zone, amounts as `25000.00`. */
export class FakeMidtrans extends FakeProvider {
  readonly name = 'midtrans';
  readonly serverKey: string;
  readonly merchantId: string;
  readonly #hasQrString: boolean;
  readonly #isLoud: boolean;
  /** Responses to successful POSTs by idempotency key, kept for five minutes, across all endpoints. */
  readonly #answers = new Map<string, { readonly answer: FakeAnswer; readonly until: number }>();

  constructor(options: MidtransOptions = {}) {
    super(options);
    this.serverKey = options.serverKey ?? 'SB-Mid-server-TESTKEY';
    this.merchantId = options.merchantId ?? 'G123456789';
    this.#hasQrString = options.hasQrString ?? true;
    this.#isLoud = options.isLoud ?? false;
  }

  get section() {
    return { server_key: this.serverKey, merchant_id: this.merchantId, base_url: this.url };
  }

  protected answer(request: FakeRequest): FakeAnswer {
    if (request.headers.authorization !== `Basic ${Buffer.from(`${this.serverKey}:`).toString('base64')}`)
      return failed(401, 'Unknown Merchant server_key/id', 401);
    const key = request.headers['idempotency-key'];
    if (request.method !== 'POST' || typeof key !== 'string' || key.length > 46) return this.#act(request);
    const known = this.#answers.get(key);
    if (known !== undefined && known.until > this.now()) return known.answer;
    const answer = this.#act(request);
    if (Number((answer.body as { status_code: string }).status_code) < 300)
      this.#answers.set(key, { answer, until: this.now() + 300_000 });
    return answer;
  }

  notificationOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, this.serverKey, this.merchantId);
  }

  forgeryOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, 'SB-Mid-server-GUESS', this.merchantId);
  }

  /** The key of the signature is the same: accounts of a group may share one, and only the merchant id distinguishes them. */
  foreignOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, this.serverKey, 'G999999999');
  }

  protected failure(status: 500 | 429): FakeAnswer {
    return status === 429
      ? failed(429, 'API rate limit exceeded', 429)
      : failed(500, 'Sorry. Our system is recovering', 200);
  }

  protected repetitions(status: number): readonly number[] {
    if (status >= 200 && status < 304) return [];
    if (status === 500) return schedule.slice(0, 1);
    if (status === 503) return schedule.slice(0, 4);
    return status === 400 || status === 404 ? schedule.slice(0, 2) : schedule;
  }

  #act(request: FakeRequest): FakeAnswer {
    if (request.path === '/v2/charge' && request.method === 'POST') return this.#charge(request);
    const [, id, action] = /^\/v2\/([^/]+)\/(status|cancel|expire|refund)$/.exec(request.path) ?? [];
    if (request.method !== (action === 'status' ? 'GET' : 'POST')) return failed(405, 'Method not allowed', 405);
    const charge = id === undefined ? undefined : this.find(decodeURIComponent(id));
    if (charge === undefined) return failed(404, "Transaction doesn't exist.");
    if (action === 'status') return ok(this.#describe(charge));
    if (action === 'refund') return this.#refund(charge, request);
    if (charge.state !== 'pending') return failed(412, 'Transaction status cannot be updated.');
    charge.state = action === 'expire' ? 'expired' : 'cancelled';
    return ok(this.#describe(charge));
  }

  #charge(request: FakeRequest): FakeAnswer {
    const {
      transaction_details: order,
      item_details: items,
      custom_expiry: expiry,
    } = request.json<{
      transaction_details: { order_id: string; gross_amount: number };
      item_details: { price: number; quantity: number }[];
      custom_expiry?: { order_time: string; expiry_duration: number; unit?: string };
    }>();
    const sum = items.reduce((total, { price, quantity }) => total + price * quantity, 0);
    if (sum !== order.gross_amount)
      return failed(400, 'transaction_details.gross_amount is not equal to the sum of items');
    if (!/^[\w~.-]{1,50}$/.test(order.order_id)) return failed(400, 'transaction_details.order_id is invalid');
    if (this.charges.has(order.order_id)) return failed(406, 'The request could not be completed due to a conflict');
    const seconds = { second: 1, minute: 60, hour: 3_600, day: 86_400 }[expiry?.unit ?? 'minute'] ?? 60;
    const from = expiry === undefined ? this.now() : readOrderTime(expiry.order_time);
    const charge = this.addCharge({
      reference: order.order_id,
      providerReference: randomUUID(),
      amount: order.gross_amount,
      expiresAt: new Date(from + (expiry?.expiry_duration ?? 15) * seconds * 1_000),
      notificationUrl: request.headers['x-override-notification'] as string | undefined,
    });
    const image = `https://api.sandbox.veritrans.co.id/v2/qris/${charge.providerReference}/qr-code`;
    return ok({
      ...this.#describe(charge),
      status_code: '201',
      status_message: 'QRIS transaction is created',
      expiry_time: formatLocalTime(charge.expiresAt),
      ...(this.#hasQrString && { qr_string: charge.qr }),
      actions: [{ name: 'generate-qr-code', method: 'GET', url: image }],
    });
  }

  #refund(charge: FakeCharge, request: FakeRequest): FakeAnswer {
    const { refund_key: key, amount } = request.json<{ refund_key: string; amount: number }>();
    if (charge.state !== 'paid') return failed(412, 'Merchant cannot modify the status of the transaction');
    const rest = charge.amount - charge.refunds.reduce((sum, refund) => sum + refund.amount, 0);
    const known = charge.refunds.find((refund) => refund.key === key);
    if (known === undefined && amount > rest) return failed(414, 'Refund amount exceeds the transaction amount');
    const refund = this.addRefund(charge, key, amount);
    return ok({ ...this.#describe(charge), refund_key: key, refund_amount: formatWithCents(refund.amount) });
  }

  #describe(charge: FakeCharge) {
    const status = this.#statusOf(charge);
    const isPaid = charge.paidAt !== undefined && !['expire', 'deny', 'pending'].includes(status);
    return {
      status_code: codeOf(status),
      status_message: 'Success, transaction is found',
      transaction_id: charge.providerReference,
      order_id: charge.reference,
      merchant_id: this.merchantId,
      gross_amount: formatWithCents(charge.paidAmount ?? charge.amount),
      currency: charge.currency,
      payment_type: 'qris',
      transaction_time: formatLocalTime(charge.createdAt),
      transaction_status: this.#isLoud ? status.toUpperCase() : status,
      fraud_status: 'accept',
      acquirer: 'gopay',
      ...(isPaid && { settlement_time: formatLocalTime(charge.paidAt as Date), issuer: charge.issuer }),
      ...(charge.refunds.length > 0 && {
        refunds: charge.refunds.map((refund, index) => ({
          refund_chargeback_id: index + 1,
          refund_key: refund.key,
          refund_amount: formatWithCents(refund.amount),
          created_at: formatLocalTime(refund.createdAt),
          ...(refund.state === 'done' && { bank_confirmed_at: formatLocalTime(new Date(this.now())) }),
        })),
      }),
    };
  }

  #statusOf(charge: FakeCharge): string {
    if (charge.state !== 'paid')
      return { pending: 'pending', expired: 'expire', failed: 'deny', cancelled: 'cancel', disputed: 'chargeback' }[
        charge.state
      ];
    const refunded = charge.refunds
      .filter(({ state }) => state !== 'failed')
      .reduce((sum, { amount }) => sum + amount, 0);
    if (refunded === 0) return 'settlement';
    return refunded < charge.amount ? 'partial_refund' : 'refund';
  }

  #notificationOf(charge: FakeCharge, serverKey: string, merchantId: string): FakeNotification {
    const described = { ...this.#describe(charge), merchant_id: merchantId };
    // For an expired charge, the status API returns 407 and notifications contain 202.
    const status_code = described.status_code === '407' ? '202' : described.status_code;
    const signed = `${described.order_id}${status_code}${described.gross_amount}${serverKey}`;
    const signature_key = createHash('sha512').update(signed).digest('hex');
    const body = { ...described, status_code, status_message: 'midtrans payment notification', signature_key };
    return { headers: { 'user-agent': 'Veritrans' }, body: JSON.stringify(body) };
  }
}

export async function createFakeMidtrans(options?: MidtransOptions): Promise<FakeMidtrans> {
  return new FakeMidtrans(options).listen();
}

function codeOf(status: string): string {
  return { pending: '201', expire: '407', deny: '202' }[status] ?? '200';
}

/** Most responses are HTTP 200, regardless of the code in the body. */
function failed(code: number, message: string, status = 200): FakeAnswer {
  return { status, body: { status_code: String(code), status_message: message, id: randomUUID() } };
}

function ok(body: object): FakeAnswer {
  return { status: 200, body };
}

function formatWithCents(amount: string | number): string {
  return /\./.test(String(amount)) ? String(amount) : `${amount}.00`;
}

function formatLocalTime(time: Date): string {
  // `2026-01-02 10:00:00`, in GMT+7
  return new Date(time.getTime() + 7 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
}

function readOrderTime(text: string): number {
  const [, day, time, offset] = /^(\S+) (\S+) ([+-]\d{4})$/.exec(text) ?? [];
  return Date.parse(`${day}T${time}${offset?.slice(0, 3)}:${offset?.slice(3)}`);
}
