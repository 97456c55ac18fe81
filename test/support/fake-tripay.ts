import { createHmac, randomUUID } from 'node:crypto';
import {
  type FakeAnswer,
  type FakeCharge,
  type FakeNotification,
  type FakeOptions,
  FakeProvider,
  type FakeRequest,
  type FakeState,
} from './fake-provider.ts';

const statuses: Readonly<Record<FakeState, string>> = {
  pending: 'UNPAID',
  paid: 'PAID',
  expired: 'EXPIRED',
  failed: 'FAILED',
  cancelled: 'FAILED',
  disputed: 'REFUND',
};

/** Tripay: a signature over the raw body, `{success, message, data}`, and no way to end a charge or refund money. */
export class FakeTripay extends FakeProvider {
  readonly name = 'tripay';
  readonly merchantCode = 'T0001';
  readonly privateKey = 'PRIVKEY';
  readonly apiKey = 'DEV-apikey';

  get section() {
    const { apiKey: api_key, privateKey: private_key, merchantCode: merchant_code, url: base_url } = this;
    return { api_key, private_key, merchant_code, base_url };
  }

  protected answer(request: FakeRequest): FakeAnswer {
    if (request.headers.authorization !== `Bearer ${this.apiKey}`) return failed(401, 'Invalid API Key');
    if (request.method === 'POST' && request.path === '/transaction/create') return this.#charge(request);
    const reference = new URL(request.path, 'http://tripay.test').searchParams.get('reference') ?? '';
    const charge = this.find(reference);
    if (charge === undefined || charge.reference === reference) return failed(404, 'Transaction not found');
    return { status: 200, body: { success: true, message: '', data: this.#describe(charge) } };
  }

  notificationOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, this.privateKey);
  }

  forgeryOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, 'GUESS');
  }

  /** Every merchant has its own key. */
  foreignOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, 'KEY-OF-T0002');
  }

  protected failure(status: 500 | 429): FakeAnswer {
    return failed(status, status === 429 ? 'Too many requests' : 'Internal error');
  }

  protected repetitions(status: number): readonly number[] {
    return status >= 200 && status < 300 ? [] : [2, 4, 6];
  }

  #charge(request: FakeRequest): FakeAnswer {
    const body = request.json<{
      merchant_ref: string;
      amount: number;
      signature: string;
      expired_time: number;
      callback_url?: string;
    }>();
    const signed = `${this.merchantCode}${body.merchant_ref}${body.amount}`;
    if (body.signature !== createHmac('sha256', this.privateKey).update(signed).digest('hex'))
      return failed(400, 'Invalid signature');
    const charge = this.addCharge({
      reference: body.merchant_ref,
      providerReference: `T0001${randomUUID().slice(0, 12).toUpperCase()}`,
      amount: body.amount,
      expiresAt: new Date(body.expired_time * 1_000),
      notificationUrl: body.callback_url,
    });
    return { status: 200, body: { success: true, message: '', data: this.#describe(charge) } };
  }

  #describe(charge: FakeCharge) {
    return {
      reference: charge.providerReference,
      merchant_ref: charge.reference,
      payment_method: 'QRIS',
      amount: amountOf(charge),
      currency: charge.currency,
      status: this.#statusOf(charge),
      qr_string: charge.qr,
      qr_url: `https://tripay.co.id/qr/${charge.providerReference}`,
      expired_time: Math.floor(charge.expiresAt.getTime() / 1_000),
      ...(charge.paidAt !== undefined && { paid_at: Math.floor(charge.paidAt.getTime() / 1_000) }),
    };
  }

  #notificationOf(charge: FakeCharge, key: string): FakeNotification {
    const { qr_string: _qr, qr_url: _url, expired_time: _end, amount, ...described } = this.#describe(charge);
    const body = JSON.stringify({ ...described, total_amount: amount, is_closed_payment: 1 });
    const signature = createHmac('sha256', key).update(body).digest('hex');
    return { headers: { 'x-callback-event': 'payment_status', 'x-callback-signature': signature }, body };
  }

  #statusOf(charge: FakeCharge): string {
    return this.refunded(charge) > 0 ? 'REFUND' : statuses[charge.state];
  }
}

export async function createFakeTripay(options?: FakeOptions): Promise<FakeTripay> {
  return new FakeTripay(options).listen();
}

function amountOf({ paidAmount, amount }: FakeCharge): number {
  return Number(paidAmount ?? amount);
}

function failed(status: number, message: string): FakeAnswer {
  return { status, body: { success: false, message } };
}
