import { createHash, randomUUID } from 'node:crypto';
import {
  type FakeAnswer,
  type FakeCharge,
  type FakeNotification,
  type FakeOptions,
  type FakePayment,
  FakeProvider,
  type FakeRefund,
  type FakeRequest,
  type FakeState,
} from './fake-provider.ts';

const schedule = [15, 60, 180, 360, 720, 1_440]; // minutes from a notification to its repetitions
/** The code in test mode, as in recorded responses. Older calls returned a different one, which is not a QRIS payload either. */
const placeholder = 'some-random-qr-string';
const lifetime = 48 * 3_600_000; // ms; QRIS allows no other

const requestStatus: Readonly<Record<FakeState, string>> = {
  pending: 'REQUIRES_ACTION',
  paid: 'SUCCEEDED',
  expired: 'EXPIRED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
  disputed: 'SUCCEEDED',
};

interface XenditOptions extends FakeOptions {
  readonly secretKey?: string;
  readonly webhookToken?: string;
  readonly businessId?: string;
  /** True: a request that was paid after its end does not name the payment; only the notification does. */
  readonly hidesLatePayments?: boolean;
}

/** Xendit's Payments API v3, QRIS: payments separate from requests, a token instead of a signature. */
export class FakeXendit extends FakeProvider {
  readonly name = 'xendit';
  readonly secretKey: string;
  readonly webhookToken: string;
  readonly businessId: string;
  transactionsPerPage = 50; // in the list of transactions
  readonly #isTestMode: boolean;
  readonly #hidesLatePayments: boolean;
  readonly #late = new Map<FakeCharge, FakeState>(); // ended before they were paid, and keep reporting that state
  /** Additional payments of requests, by id, as when a wallet pays twice. */
  readonly #further = new Map<string, { readonly charge: FakeCharge; readonly amount: string; readonly at: Date }>();

  constructor(options: XenditOptions = {}) {
    super(options);
    this.secretKey = options.secretKey ?? 'xnd_production_TESTKEY';
    this.#isTestMode = this.secretKey.startsWith('xnd_development_');
    this.webhookToken = options.webhookToken ?? 'webhook-token-of-tests';
    this.businessId = options.businessId ?? '6094fa76c2fd53701b8e079c';
    this.#hidesLatePayments = options.hidesLatePayments ?? false;
  }

  get section() {
    const { secretKey: secret_key, webhookToken: webhook_token, businessId: business_id, url: base_url } = this;
    return { secret_key, webhook_token, business_id, base_url };
  }

  override async pay(reference: string, payment: FakePayment = {}): Promise<void> {
    const charge = this.charge(reference);
    if (charge.state !== 'pending' && charge.state !== 'paid') this.#late.set(charge, charge.state);
    await super.pay(reference, payment);
  }

  async payAgain(reference: string, amount?: string): Promise<{ paymentId: string; notification: FakeNotification }> {
    const charge = this.charge(reference);
    const paymentId = `py-${randomUUID()}`;
    this.#further.set(paymentId, { charge, amount: amount ?? String(charge.amount), at: new Date(this.now()) });
    return { paymentId, notification: this.captureOf(charge, paymentId) };
  }

  /** Returns the capture of one payment, as sent and as it may be sent again. */
  captureOf(charge: FakeCharge, paymentId = charge.paymentId): FakeNotification {
    const event = ['payment.capture', this.#payment(charge, paymentId)] as const;
    return this.#wrap(charge, event, `${paymentId}`, this.webhookToken, this.businessId);
  }

  /** Returns the headers of a notification that Xendit sends under a different id. */
  headersOf(webhookId: string): Record<string, string> {
    return { 'x-callback-token': this.webhookToken, 'webhook-id': webhookId };
  }

  protected answer(request: FakeRequest): FakeAnswer {
    if (request.headers.authorization !== `Basic ${Buffer.from(`${this.secretKey}:`).toString('base64')}`)
      return failed(401, 'INVALID_API_KEY', 'API key is not authorized');
    const { pathname, searchParams } = new URL(request.path, 'http://xendit.test');
    if (pathname === '/refunds')
      return request.method === 'POST' ? this.#refund(request) : this.#listRefunds(searchParams);
    if (pathname.startsWith('/refunds/')) return this.#readRefund(pathname.slice('/refunds/'.length));
    if (pathname === '/transactions') return this.#transactions(searchParams);
    if (request.headers['api-version'] !== '2024-11-11')
      return failed(400, 'API_VALIDATION_ERROR', 'api-version header is required');
    if (request.method === 'POST' && pathname === '/v3/payment_requests') return this.#charge(request);
    const [, kind, id = '', action] = /^\/v3\/(payment_requests|payments)\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    const charge = kind === 'payments' ? this.#chargeOf(id) : this.find(id);
    if (request.method !== (action === undefined ? 'GET' : 'POST'))
      return failed(405, 'METHOD_NOT_ALLOWED', 'Method not allowed');
    if (charge === undefined || id === charge.reference) return failed(404, 'DATA_NOT_FOUND', 'Not found');
    if (kind === 'payments') return { status: 200, body: this.#payment(charge, id) };
    if (action === 'simulate') return this.#simulate(charge, request);
    return action === 'cancel' ? this.#cancel(charge) : { status: 200, body: this.#request(charge) };
  }

  notificationOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, this.webhookToken, this.businessId);
  }

  forgeryOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, 'guess', this.businessId);
  }

  /** The token is the same, as for accounts of the same platform. */
  foreignOf(charge: FakeCharge): FakeNotification {
    return this.#notificationOf(charge, this.webhookToken, '000000000000000000000000');
  }

  protected failure(status: 500 | 429): FakeAnswer {
    return status === 429
      ? failed(429, 'RATE_LIMIT_EXCEEDED', 'You have exceeded the rate limit')
      : failed(500, 'SERVER_ERROR', 'Please contact our team');
  }

  protected repetitions(status: number): readonly number[] {
    return status >= 200 && status < 300 ? [] : schedule;
  }

  #charge(request: FakeRequest): FakeAnswer {
    const body = request.json<{
      reference_id: string;
      request_amount: number;
      channel_code: string;
      currency: string;
    }>();
    if (body.channel_code !== 'QRIS' || body.currency !== 'IDR' || body.request_amount > 10_000_000)
      return failed(400, 'API_VALIDATION_ERROR', 'Invalid request');
    const charge = this.addCharge({
      reference: body.reference_id,
      providerReference: `pr-${randomUUID()}`,
      amount: body.request_amount,
      expiresAt: new Date(this.now() + lifetime),
      notificationUrl: undefined,
    });
    return { status: 201, body: this.#request(charge) };
  }

  #request(charge: FakeCharge) {
    const late = this.#late.get(charge);
    const isShown = charge.paymentId !== undefined && (late === undefined || !this.#hidesLatePayments);
    return {
      business_id: this.businessId,
      payment_request_id: charge.providerReference,
      reference_id: charge.reference,
      type: 'PAY',
      country: 'ID',
      currency: 'IDR',
      request_amount: charge.amount,
      capture_method: 'AUTOMATIC',
      channel_code: 'QRIS',
      channel_properties: {},
      status: requestStatus[late ?? charge.state],
      ...(isShown && { latest_payment_id: charge.paymentId }),
      actions: [
        { type: 'PRESENT_TO_CUSTOMER', descriptor: 'QR_STRING', value: this.#isTestMode ? placeholder : charge.qr },
      ],
      created: charge.createdAt.toISOString(),
      updated: (charge.paidAt ?? charge.createdAt).toISOString(),
    };
  }

  #chargeOf(paymentId: string): FakeCharge | undefined {
    return (
      this.#further.get(paymentId)?.charge ?? [...this.charges.values()].find((one) => one.paymentId === paymentId)
    );
  }

  #payment(charge: FakeCharge, paymentId = charge.paymentId) {
    const isPaid = charge.state === 'paid' || charge.state === 'disputed';
    const { amount = charge.paidAmount, at = charge.paidAt } = this.#further.get(paymentId ?? '') ?? {};
    return {
      payment_id: paymentId,
      business_id: this.businessId,
      payment_request_id: charge.providerReference,
      reference_id: charge.reference,
      status: isPaid ? 'SUCCEEDED' : requestStatus[charge.state].replace('REQUIRES_ACTION', 'PENDING'),
      request_amount: charge.amount,
      currency: charge.currency,
      country: 'ID',
      channel_code: 'QRIS',
      ...(isPaid && {
        captures: [
          {
            capture_id: `cptr-${paymentId?.slice(3)}`,
            capture_amount: Number(amount),
            capture_timestamp: at?.toISOString(),
          },
        ],
        payment_details: { issuer_name: charge.issuer, receipt_id: '123456789012' },
      }),
      created: charge.createdAt.toISOString(),
      updated: (charge.paidAt ?? charge.createdAt).toISOString(),
    };
  }

  #cancel(charge: FakeCharge): FakeAnswer {
    if (charge.state !== 'pending') return failed(400, 'INACTIVE_PAYMENT_REQUEST', 'The request is no longer active');
    charge.state = 'cancelled';
    return { status: 200, body: this.#request(charge) };
  }

  /** Test mode only: the response is always PENDING, and the result comes by notification. */
  #simulate(charge: FakeCharge, request: FakeRequest): FakeAnswer {
    const { amount } = request.json<{ amount: number }>();
    void this.pay(charge.reference, { amount: String(amount) }).catch(() => undefined);
    return { status: 200, body: { status: 'PENDING', message: 'A simulate payment request has been created' } };
  }

  #refund(request: FakeRequest): FakeAnswer {
    const body = request.json<{ payment_request_id: string; reference_id: string; amount: number }>();
    const charge = this.find(body.payment_request_id);
    if (charge === undefined) return failed(404, 'DATA_NOT_FOUND', 'Not found');
    if (charge.state !== 'paid') return failed(400, 'INELIGIBLE_TRANSACTION_STATUS', 'The payment did not succeed');
    const known = charge.refunds.find(({ key }) => key === body.reference_id);
    if (known !== undefined) return { status: 200, body: refundBody(charge, known) };
    if (charge.refunds.some(({ state }) => state === 'pending'))
      return failed(400, 'REFUND_IN_PROGRESS', 'There is already a pending refund');
    if (body.amount > charge.amount - this.refunded(charge))
      return failed(400, 'REFUND_AMOUNT_EXCEEDED', 'The amount exceeds the payment');
    return { status: 200, body: refundBody(charge, this.addRefund(charge, body.reference_id, body.amount)) };
  }

  #readRefund(id: string): FakeAnswer {
    for (const charge of this.charges.values()) {
      const refund = charge.refunds.find((one) => `rfd-${one.id}` === id);
      if (refund !== undefined) return { status: 200, body: refundBody(charge, refund) };
    }
    return failed(404, 'DATA_NOT_FOUND', 'Not found');
  }

  /** Payments and completed refunds by time, newest first, one page at a time. */
  #transactions(query: URLSearchParams): FakeAnswer {
    const [since = '', until = ''] = ['created[gte]', 'created[lte]'].map((name) => query.get(name) ?? '');
    const types = query.getAll('types');
    const rows = [...this.charges.values()]
      .flatMap((charge) => this.#movementsOf(charge))
      .filter(({ created, type }) => created >= since && created <= until && types.includes(type))
      .toSorted((one, other) => other.created.localeCompare(one.created) || one.id.localeCompare(other.id));
    const from = rows.findIndex(({ id }) => id === query.get('after_id')) + 1;
    const size = Math.min(Number(query.get('limit') ?? 10), this.transactionsPerPage);
    return { status: 200, body: { data: rows.slice(from, from + size), has_more: rows.length > from + size } };
  }

  #movementsOf(charge: FakeCharge) {
    const row = (type: 'PAYMENT' | 'REFUND', product: string, reference: string, amount: number, at: Date) => ({
      id: `txn_${product}`,
      product_id: product,
      type,
      status: 'SUCCESS',
      channel_category: 'QR_CODE',
      channel_code: 'QRIS',
      reference_id: reference,
      currency: charge.currency,
      amount,
      cashflow: type === 'PAYMENT' ? 'MONEY_IN' : 'MONEY_OUT',
      created: at.toISOString(),
      ...(type === 'PAYMENT' && { fee: computeFee(amount) }),
    });
    const further = [...this.#further].filter(([, one]) => one.charge === charge);
    const { reference, paymentId = '', paidAmount, paidAt } = charge;
    return [
      ...(paidAt === undefined ? [] : [row('PAYMENT', paymentId, reference, Number(paidAmount), paidAt)]),
      ...further.map(([id, { amount, at }]) => row('PAYMENT', id, reference, Number(amount), at)),
      ...charge.refunds
        .filter(({ state }) => state === 'done')
        .map(({ id, key, amount, createdAt }) => row('REFUND', `rfd-${id}`, key, amount, createdAt)),
    ];
  }

  #listRefunds(query: URLSearchParams): FakeAnswer {
    const charge = this.find(query.get('payment_request_id') ?? '');
    const data = charge === undefined ? [] : charge.refunds.map((refund) => refundBody(charge, refund));
    return { status: 200, body: { data, has_more: false } };
  }

  /** Refunds have events of their own; a pending one has none. */
  #notificationOf(charge: FakeCharge, token: string, businessId: string): FakeNotification {
    const refund = charge.refunds.findLast(({ state }) => state !== 'pending');
    const event = refund === undefined ? this.#eventOf(charge) : refundEvent(charge, refund);
    return this.#wrap(charge, event, refund?.key ?? '', token, businessId);
  }

  #wrap(
    charge: FakeCharge,
    [event, data]: readonly [string, object],
    about: string,
    token: string,
    businessId: string,
  ): FakeNotification {
    const body = {
      event,
      business_id: businessId,
      created: new Date(this.now()).toISOString(),
      api_version: 'v3',
      data,
    };
    const id = createHash('sha256').update(`${event} ${charge.providerReference} ${about}`).digest('hex');
    return { headers: { 'x-callback-token': token, 'webhook-id': id.slice(0, 36) }, body: JSON.stringify(body) };
  }

  #eventOf(charge: FakeCharge): [string, object] {
    if (charge.state === 'paid' || charge.state === 'disputed') return ['payment.capture', this.#payment(charge)];
    if (charge.state === 'expired') return ['payment_request.expiry', this.#request(charge)];
    return [charge.state === 'pending' ? 'payment.authorization' : 'payment.failure', this.#payment(charge)];
  }
}

export async function createFakeXendit(options?: XenditOptions): Promise<FakeXendit> {
  return new FakeXendit(options).listen();
}

function refundEvent(charge: FakeCharge, refund: FakeRefund): [string, object] {
  return [refund.state === 'done' ? 'refund.succeeded' : 'refund.failed', refundBody(charge, refund)];
}

function refundBody(charge: FakeCharge, refund: FakeRefund) {
  return {
    id: `rfd-${refund.id}`,
    payment_request_id: charge.providerReference,
    payment_id: refund.paymentId,
    reference_id: refund.key,
    amount: refund.amount,
    currency: 'IDR',
    channel_code: 'QRIS',
    status: { pending: 'PENDING', done: 'SUCCEEDED', failed: 'FAILED' }[refund.state],
    reason: 'REQUESTED_BY_CUSTOMER',
    metadata: refund.key.startsWith('dashboard-') ? null : { reference: charge.reference },
    created: refund.createdAt.toISOString(),
  };
}

function computeFee(amount: number) {
  // 0.63 % plus the tax on it, in whole rupiah
  const xendit_fee = Math.round(amount * 0.0063);
  return { xendit_fee, value_added_tax: Math.round(xendit_fee * 0.11), status: 'COMPLETED' };
}

function failed(status: number, error_code: string, message: string): FakeAnswer {
  return { status, body: { error_code, message } };
}
