import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fakeQr } from './fake-qr.ts';

/*
 * What the fakes of payment providers have in common: an HTTP server that can fail in every way, charges and what happens to them, and
 * notifications that are repeated the way the provider repeats them.
 */

export interface FakeCharge {
  readonly reference: string; // the gateway's
  readonly providerReference: string;
  readonly amount: number;
  readonly qr: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly notificationUrl: string | undefined; // of its notifications, if the charge named one
  state: FakeState;
  paidAmount?: string; // in the provider's notation, such as `25000.00`
  currency: string;
  paymentId?: string;
  paidAt?: Date;
  issuer?: string;
  readonly refunds: FakeRefund[];
}

export type FakeState = 'pending' | 'paid' | 'expired' | 'failed' | 'cancelled' | 'disputed';

export interface FakeRefund {
  readonly id: string;
  readonly key: string;
  readonly amount: number;
  readonly createdAt: Date;
  readonly paymentId: string | undefined; // of the payment, if a charge can have several
  state: 'pending' | 'done' | 'failed';
}

/** How a payment differs from what was requested. */
export interface FakePayment {
  readonly amount?: string; // in the provider's notation; default: the amount of the charge
  readonly currency?: string;
  readonly issuer?: string;
  readonly at?: Date;
  readonly isSilent?: boolean; // no notification is sent, as if it were lost
}

export interface FakeReturn {
  readonly paymentId?: string; // default: the first payment
  readonly isSilent?: boolean;
}

export interface FakeFault {
  readonly on?: RegExp; // matched against method and path, `POST /v2/charge`; default: every request
  readonly with: 'error' | 'hang' | 'html' | 'cut' | 'reset' | 'rate-limit';
  readonly times?: number; // default: once
  readonly isApplied?: boolean; // the request is carried out, and only its response is lost
  readonly retryAfter?: number; // seconds to wait that a rate limit reports; default: 3
}

export interface FakeRequest {
  readonly method: string;
  readonly path: string; // with the query
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  json<T = Record<string, unknown>>(): T;
}

export interface FakeAnswer {
  readonly status: number;
  readonly body: object;
}

export interface FakeNotification {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface FakeDelivery extends FakeNotification {
  readonly url: string;
  readonly status: number; // 0: no response in time
  readonly answer: string;
  readonly milliseconds: number;
}

export interface FakeOptions {
  readonly notificationUrl?: string; // a test that starts its gateway later sets it then
  readonly minute?: number; // ms that one minute of the provider's repetition schedule takes; default: 10
  readonly now?: () => number; // epoch ms; charges expire by it
}

/** Each subclass speaks one provider's protocol. */
export abstract class FakeProvider implements AsyncDisposable {
  notificationUrl: string | undefined;
  readonly requests: FakeRequest[] = [];
  readonly deliveries: FakeDelivery[] = [];
  readonly charges = new Map<string, FakeCharge>();
  /** A test may replace it with one that returns a wrong payload. */
  qrOf = ({ reference, amount }: Pick<FakeCharge, 'reference' | 'amount'>): string =>
    fakeQr(reference, amount, `FAKE ${this.name.toUpperCase()}`);
  protected readonly now: () => number;
  readonly #minute: number;
  readonly #faults: { fault: FakeFault; left: number }[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #ended = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor({ notificationUrl, minute = 10, now = Date.now }: FakeOptions = {}) {
    this.notificationUrl = notificationUrl;
    this.#minute = minute;
    this.now = now;
  }

  abstract readonly name: string;
  abstract readonly section: Readonly<Record<string, unknown>>;

  protected abstract answer(request: FakeRequest): FakeAnswer;
  abstract notificationOf(charge: FakeCharge): FakeNotification;
  abstract forgeryOf(charge: FakeCharge): FakeNotification; // with a wrong signature
  abstract foreignOf(charge: FakeCharge): FakeNotification; // for an account that is not ours, signed by that account
  protected abstract failure(status: 500 | 429): FakeAnswer;
  protected abstract repetitions(status: number): readonly number[]; // minutes after the first delivery, by the status of the response

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The newest charge, or the one with this reference of the gateway. Throws if there is none. */
  charge(reference?: string): FakeCharge {
    const charge = reference === undefined ? [...this.charges.values()].at(-1) : this.charges.get(reference);
    if (charge === undefined) throw new Error(`${this.name} has no charge ${reference ?? ''}`);
    return charge;
  }

  /** Payments are possible at any time: late ones are settled too. */
  async pay(reference: string, payment: FakePayment = {}): Promise<void> {
    const charge = this.charge(reference);
    charge.paidAmount = payment.amount ?? String(charge.amount);
    charge.currency = payment.currency ?? 'IDR';
    charge.paidAt = payment.at ?? new Date(this.now());
    charge.issuer = payment.issuer ?? 'gopay';
    charge.paymentId ??= `py-${randomUUID()}`;
    charge.state = 'paid';
    if (payment.isSilent !== true) await this.notify(reference);
  }

  async expire(reference: string): Promise<void> {
    await this.#move(reference, 'expired');
  }

  async fail(reference: string): Promise<void> {
    await this.#move(reference, 'failed');
  }

  async dispute(reference: string): Promise<void> {
    await this.#move(reference, 'disputed');
  }

  async refund(reference: string, amount?: number, options: FakeReturn = {}): Promise<void> {
    const charge = this.charge(reference);
    const key = `dashboard-${charge.refunds.length + 1}`;
    this.addRefund(charge, key, amount ?? charge.amount, options.paymentId).state = 'done';
    if (options.isSilent !== true) await this.notify(reference);
  }

  async finishRefund(reference: string, key: string, state: 'done' | 'failed' = 'done'): Promise<void> {
    const charge = this.charge(reference);
    const refund = charge.refunds.find((one) => one.key === key);
    if (refund === undefined) throw new Error(`no refund ${key}`);
    refund.state = state;
    await this.notify(reference);
  }

  /** Sends the notification of the current state. Resolves with the responses to the first deliveries. */
  async notify(reference: string, times = 1): Promise<readonly FakeDelivery[]> {
    const notification = this.notificationOf(this.charge(reference));
    return this.sendAll(
      reference,
      Array.from({ length: times }, () => notification),
    );
  }

  /** Sends a forgery, a replay or a notification for another merchant, and does not repeat it. */
  async send(notification: FakeNotification, reference?: string): Promise<FakeDelivery> {
    return this.#deliver(notification, this.#addressOf(reference));
  }

  async sendAll(reference: string, notifications: readonly FakeNotification[]): Promise<readonly FakeDelivery[]> {
    const url = this.#addressOf(reference);
    return Promise.all(
      notifications.map(async (notification) => {
        const first = await this.#deliver(notification, url);
        this.#repeat(notification, url, first.status);
        return first;
      }),
    );
  }

  break(fault: FakeFault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  repair(): void {
    this.#faults.length = 0;
  }

  /** Resolves once all repetitions have been delivered or abandoned. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#server.closeAllConnections();
    await Promise.all([this.idle(), new Promise((resolve) => this.#server.close(resolve))]);
  }

  protected addCharge(
    charge: Pick<FakeCharge, 'reference' | 'providerReference' | 'amount' | 'expiresAt' | 'notificationUrl'>,
  ): FakeCharge {
    const qr = this.qrOf(charge);
    const added: FakeCharge = {
      ...charge,
      qr,
      createdAt: new Date(this.now()),
      state: 'pending',
      currency: 'IDR',
      refunds: [],
    };
    this.charges.set(charge.reference, added);
    return added;
  }

  protected addRefund(charge: FakeCharge, key: string, amount: number, paymentId = charge.paymentId): FakeRefund {
    const known = charge.refunds.find((refund) => refund.key === key);
    if (known !== undefined) return known;
    const createdAt = new Date(this.now());
    const refund: FakeRefund = { id: randomUUID(), key, amount, createdAt, paymentId, state: 'pending' };
    charge.refunds.push(refund);
    return refund;
  }

  /** Accepts either reference. An overdue charge is expired. */
  protected find(reference: string): FakeCharge | undefined {
    const charge =
      this.charges.get(reference) ?? [...this.charges.values()].find((one) => one.providerReference === reference);
    if (charge?.state === 'pending' && charge.expiresAt.getTime() <= this.now()) charge.state = 'expired';
    return charge;
  }

  protected refunded(charge: FakeCharge): number {
    return charge.refunds.filter(({ state }) => state === 'done').reduce((sum, { amount }) => sum + amount, 0);
  }

  async #move(reference: string, state: FakeState): Promise<void> {
    this.charge(reference).state = state;
    await this.notify(reference);
  }

  #addressOf(reference: string | undefined): string {
    const url = (reference === undefined ? undefined : this.charge(reference).notificationUrl) ?? this.notificationUrl;
    if (url === undefined) throw new Error(`${this.name} has no address for notifications`);
    return url;
  }

  #repeat(notification: FakeNotification, url: string, status: number): void {
    const run = async () => {
      let before = 0;
      for (const [index, after] of this.repetitions(status).entries()) {
        await this.#wait((after - before) * this.#minute);
        if (this.#ended.signal.aborted) return;
        before = after;
        const { status: next } = await this.#deliver(notification, url);
        if (this.repetitions(next).length <= index + 1) return;
      }
    };
    const running = run().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #wait(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#ended.signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }

  async #deliver({ headers, body }: FakeNotification, url: string): Promise<FakeDelivery> {
    const start = performance.now();
    const signal = AbortSignal.any([this.#ended.signal, AbortSignal.timeout(15_000)]);
    const sent = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    const answer = await fetch(url, { ...sent, redirect: 'manual', signal }).catch(() => undefined);
    const delivery: FakeDelivery = {
      headers,
      body,
      url,
      status: answer?.status ?? 0,
      answer: (await answer?.text().catch(() => '')) ?? '',
      milliseconds: performance.now() - start,
    };
    this.deliveries.push(delivery);
    return delivery;
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await incoming.toArray().catch(() => undefined);
    if (chunks === undefined) return;
    const request = createRecord(incoming, Buffer.concat(chunks as Buffer[]).toString());
    this.requests.push(request);
    const fault = this.#nextFault(request);
    if (fault === undefined) return send(response, this.answer(request));
    const applied = fault.isApplied === true ? this.answer(request) : undefined;
    this.#failWith(fault, response, applied);
  }

  #nextFault({ method, path }: FakeRequest): FakeFault | undefined {
    const next = this.#faults.find(({ fault, left }) => left > 0 && (fault.on?.test(`${method} ${path}`) ?? true));
    if (next !== undefined) next.left -= 1;
    return next?.fault;
  }

  #failWith(fault: FakeFault, response: ServerResponse, applied: FakeAnswer | undefined): void {
    if (fault.with === 'error') return send(response, this.failure(500));
    if (fault.with === 'rate-limit')
      return send(response, this.failure(429), { 'retry-after': String(fault.retryAfter ?? 3) });
    if (fault.with === 'html') {
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>');
    } else if (fault.with === 'cut') {
      const text = JSON.stringify(applied?.body ?? { status_code: '200', transaction_status: 'settlement' });
      response.writeHead(200, { 'content-type': 'application/json' }).end(text.slice(0, text.length / 2));
    } else if (fault.with === 'reset') response.socket?.resetAndDestroy();
    // Hanging requests end when the fake is disposed or the caller gives up.
  }
}

function createRecord({ method = '', url = '', headers }: IncomingMessage, body: string): FakeRequest {
  return { method, path: url, headers, body, json: <T>() => JSON.parse(body) as T };
}

function send(response: ServerResponse, { status, body }: FakeAnswer, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
