import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { PaymentEvidence, PaymentState } from '#core/business/payments/payment-provider.ts';
import { fakeQr } from '../support/fake-qr.ts';
import { signBody } from './bank-plugin.ts';

interface BankCharge {
  readonly amount: number;
  state: PaymentState;
  paid: number | undefined;
}

/** A notification on its way. */
interface Delivery {
  readonly reference: string;
  readonly eventKey: string;
  readonly hasEvidence: boolean;
  readonly delay: number; // ms
  /** Whether the time of its answer counts. */
  readonly isTimed: boolean;
}

/** How a bank answers: at once and always, unless something else is said. */
export interface BankHabits {
  readonly delay?: number; // ms
  /** Calls that each of its endpoints takes in a minute; further ones are answered with 429. */
  readonly perMinute?: number;
}

/** Ms between two tries to deliver a notification, and how many there are. */
const retry = { pause: 1_000, most: 60 };

/** A payment provider over HTTP. Notifications are repeated until they are answered with 200. */
export class Bank implements AsyncDisposable {
  readonly #charges = new Map<string, BankCharge>();
  readonly #server: Server;
  /** Addresses of the gateways that run now. */
  readonly gateways: string[] = [];
  /** Answers to forged notifications other than 403. */
  readonly accepted: string[] = [];
  /** Ms that answers to notifications took. */
  readonly answerTimes: number[] = [];

  /** Calls that were answered with 429. */
  refused = 0;
  readonly #calls = new Map<string, number[]>();

  private constructor({ delay = 0, perMinute = Infinity }: BankHabits) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        if (delay > 0) await setTimeout(delay);
        const path = request.url ?? '';
        if (!this.#takes(path, perMinute)) return response.writeHead(429).end();
        const body = JSON.parse(Buffer.concat(chunks).toString()) as { reference: string; amount: number };
        return response.end(JSON.stringify(this.#answer(path, body)));
      });
    });
  }

  static async open(habits: BankHabits = {}): Promise<Bank> {
    const bank = new Bank(habits);
    bank.#server.listen(0, '127.0.0.1');
    await once(bank.#server, 'listening');
    return bank;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  pay(reference: string, amount = this.#charge(reference).amount): void {
    Object.assign(this.#charge(reference), { state: 'paid', paid: amount });
  }

  /** Delivers until a gateway has taken it. */
  async notify({ reference, eventKey, hasEvidence, delay, isTimed }: Delivery): Promise<void> {
    await setTimeout(delay);
    const evidence = hasEvidence ? this.#evidence(reference) : undefined;
    const body = JSON.stringify({ reference, providerReference: `B-${reference}`, eventKey, evidence });
    for (let tries = 0; tries < retry.most; tries++) {
      if ((await this.#send(body, signBody(body), isTimed)) === 200) return;
      await setTimeout(retry.pause);
    }
  }

  /** Says that an order is paid, without knowing the secret. */
  async forge(reference: string): Promise<void> {
    const evidence = {
      ...this.#evidence(reference),
      state: 'paid',
      paymentId: 'forged',
      paid: { amount: 1, currency: 'IDR' },
    };
    const body = JSON.stringify({ reference, providerReference: `B-${reference}`, eventKey: 'forged', evidence });
    const status = await this.#send(body, signBody(`${body} `), false);
    if (status !== 403 && status !== undefined) this.accepted.push(`${reference}: ${status}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** @returns the status; undefined when no gateway answered */
  async #send(body: string, signature: string, isTimed: boolean): Promise<number | undefined> {
    const gateway = this.gateways[Math.floor(Math.random() * this.gateways.length)];
    const begun = performance.now();
    try {
      const response = await fetch(`${gateway}/hooks/bank`, {
        method: 'POST',
        body,
        headers: { 'x-signature': signature },
        signal: AbortSignal.timeout(5_000),
      });
      await response.arrayBuffer();
      if (isTimed) this.answerTimes.push(performance.now() - begun);
      return response.status;
    } catch {
      return undefined;
    }
  }

  #takes(path: string, perMinute: number): boolean {
    const now = performance.now();
    const calls = (this.#calls.get(path) ?? []).filter((at) => at > now - 60_000);
    this.#calls.set(path, calls);
    const isTaken = calls.length < perMinute;
    if (isTaken) calls.push(now);
    else this.refused++;
    return isTaken;
  }

  #answer(path: string, { reference, amount }: { reference: string; amount: number }): unknown {
    if (path === '/charge') {
      if (!this.#charges.has(reference)) this.#charges.set(reference, { amount, state: 'pending', paid: undefined });
      return { providerReference: `B-${reference}`, qr: fakeQr(reference, amount) };
    }
    const charge = this.#charges.get(reference);
    if (path === '/cancel' && charge?.state === 'pending') charge.state = 'failed';
    return this.#evidence(reference);
  }

  #evidence(reference: string): PaymentEvidence {
    const charge = this.#charges.get(reference);
    if (charge === undefined) return { reference, providerReference: undefined, state: 'unknown', raw: null };
    const providerReference = `B-${reference}`;
    const payment = { paymentId: `P-${reference}`, paid: { amount: charge.paid ?? 0, currency: 'IDR' } };
    return { reference, providerReference, state: charge.state, raw: null, ...(charge.paid !== undefined && payment) };
  }

  #charge(reference: string): BankCharge {
    const charge = this.#charges.get(reference);
    if (charge === undefined) throw new Error(`the bank has no charge ${reference}`);
    return charge;
  }
}
