import {
  type Charge,
  type ChargeRequest,
  type Money,
  type PaymentConnection,
  PaymentError,
  type PaymentEvidence,
  type PaymentProvider,
  type PaymentState,
  type Refund,
  type StatedMovement,
} from '#core/business/payments/payment-provider.ts';
import { fakeQr } from '../../../support/fake-qr.ts';

/** A charge at the fake provider. */
export interface FakeCharge {
  readonly request: ChargeRequest;
  readonly providerReference: string;
  state: PaymentState;
  paid: Money | undefined;
  cancels: number;
  paidAt: Date;
  /** Payments after the first one, by their id. */
  readonly further: Map<string, Money>;
  /** By key, of whichever payment. */
  readonly refunds: Map<string, FakeRefund>;
}

interface FakeRefund {
  readonly paymentId: string;
  readonly amount: number;
  state: 'pending' | 'done' | 'failed';
  /** When the money was returned, where the provider states it. */
  at?: Date;
}

/** What a notification says. */
export interface FakeNotice {
  readonly reference: string;
  readonly key: string;
  readonly paymentId?: string;
  readonly evidence?: PaymentEvidence;
}

type Call = 'charge' | 'status' | 'cancel' | 'refund';

/** A provider in memory, whose answers a test decides. */
export class FakeProvider {
  readonly name: string;
  readonly charges = new Map<string, FakeCharge>();
  readonly calls: Call[] = [];
  readonly refunds = new Map<string, number>();
  refundState: Refund['state'] = 'done';
  /** As Midtrans and Xendit do: evidence lists the refunds of its payment. Otherwise it says only that all is back. */
  listsRefunds = false;
  /** How the next refund of a charge ends, by reference, where it differs from `refundState`. */
  readonly ways = new Map<string, 'done' | 'pending' | 'rejected' | 'lost'>();
  /** As Xendit does: a second charge for a reference is another charge, and a second refund while one is pending is refused. */
  takesEveryCharge = false;
  refusesRepeatedRefunds = false;
  /** What the next calls of this kind fail with, before or after they have had their effect. */
  readonly failures = new Map<Call, { readonly error: Error; readonly hasEffect: boolean }>();
  /** The payload of a charge; a test replaces it by one that lies. */
  qrOf = ({ reference, amount }: ChargeRequest): string => fakeQr(reference, amount);
  /** Runs before a call has its effect. */
  before: (call: Call) => Promise<void> | void = () => undefined;

  constructor(name = 'fake') {
    this.name = name;
  }

  fail(call: Call, error: Error = new PaymentError('unknown', 'HTTP 500'), hasEffect = false): void {
    this.failures.set(call, { error, hasEffect });
  }

  pay(reference: string, paid?: Money): FakeCharge {
    const charge = this.#charge(reference);
    const { amount, currency } = charge.request;
    charge.state = 'paid';
    charge.paidAt = new Date();
    charge.paid = paid ?? { amount, currency };
    return charge;
  }

  end(reference: string, state: PaymentState): void {
    this.#charge(reference).state = state;
  }

  /** Pays once more. @returns the id of the payment */
  payAgain(reference: string, paid?: Money): string {
    const { further, request } = this.#charge(reference);
    const paymentId = `T-${reference}-${further.size + 2}`;
    further.set(paymentId, paid ?? { amount: request.amount, currency: request.currency });
    return paymentId;
  }

  /** Returns money of a payment from the dashboard. @returns the name of the refund */
  giveBack(reference: string, amount: number, paymentId = `T-${reference}`): string {
    const { refunds } = this.#charge(reference);
    const key = `dashboard-${reference}-${refunds.size + 1}`;
    refunds.set(key, { paymentId, amount, state: 'done' });
    return key;
  }

  /** A refund that was pending is done, at a time that its statements name from now on. */
  confirm(reference: string, key: string, at: Date): void {
    const refund = this.#charge(reference).refunds.get(key);
    if (refund?.state !== 'pending') throw new Error(`refund ${key} is not pending`);
    Object.assign(refund, { state: 'done', at });
  }

  /** Books of this provider, with a list of all money of its charges and of none. */
  listMoney(foreign: readonly StatedMovement[] = []): void {
    this.connection.listMovements = ({ since, until }, cursor) => {
      const all = [...this.charges.values()].flatMap(
        ({ request, providerReference, paid, paidAt, further, refunds }) => {
          const { reference, currency } = request;
          const first = paid === undefined ? [] : ([[providerReference, paid]] as const);
          const times = { currency, at: paidAt };
          return [
            ...[...first, ...further].map(([id, { amount }]) => {
              return { kind: 'payment' as const, id, reference, amount, fee: Math.round(amount * 0.007), ...times };
            }),
            ...[...refunds]
              .filter(([, { state }]) => state === 'done')
              .map(([key, { amount }]) => ({ kind: 'refund' as const, id: key, key, amount, ...times })),
          ];
        },
      );
      const rows = [...all, ...foreign].filter(({ at }) => at >= since && at < until);
      const from = Number(cursor ?? 0);
      const next = from + 3 < rows.length ? String(from + 3) : undefined;
      return Promise.resolve({ movements: rows.slice(from, from + 3), next });
    };
  }

  /** What a status read says now, of the first payment or of another one. */
  evidence(reference: string, paymentId?: string): PaymentEvidence {
    const charge = this.charges.get(reference);
    if (charge === undefined)
      return { reference, providerReference: undefined, state: 'unknown', raw: { error: 'not found' } };
    const { providerReference, state: first } = charge;
    const of = paymentId ?? providerReference;
    const paid = charge.further.get(of) ?? charge.paid;
    const refunds = [...charge.refunds].filter(([, refund]) => refund.paymentId === of);
    const back = refunds.reduce((sum, [, { amount, state }]) => sum + (state === 'done' ? amount : 0), 0);
    const isBack = this.listsRefunds && paid !== undefined && back >= paid.amount;
    const state = isBack ? 'refunded' : charge.further.has(of) ? 'paid' : first;
    return {
      reference,
      providerReference,
      state,
      ...(paid !== undefined && { paid, paymentId: of }),
      ...(this.listsRefunds &&
        paid !== undefined && { refunds: refunds.map(([key, one]) => ({ id: key, key, ...one })) }),
      raw: { state },
    };
  }

  get provider(): PaymentProvider {
    return { name: this.name, title: 'Fake', currencies: ['IDR'], connect: () => this.connection };
  }

  readonly connection: PaymentConnection = {
    callsPerSecond: 10_000,
    charge: (request) => this.#call('charge', () => this.#create(request)),
    status: ({ reference, paymentId }) => this.#call('status', () => this.evidence(reference, paymentId)),
    cancel: ({ reference }) =>
      this.#call('cancel', () => {
        const charge = this.#charge(reference);
        charge.cancels++;
        if (charge.state === 'pending') charge.state = 'failed';
        return this.evidence(reference);
      }),
    refund: ({ key, amount, reference, paymentId }) =>
      this.#call('refund', () => {
        if (this.refusesRepeatedRefunds && this.refunds.size > 0)
          throw new PaymentError('rejected', 'REFUND_IN_PROGRESS');
        this.refunds.set(key, amount);
        const charge = this.#charge(reference);
        const known = charge.refunds.get(key);
        if (known !== undefined) return { state: known.state, raw: { key } };
        const way = this.ways.get(reference);
        if (way === 'rejected') throw new PaymentError('rejected', 'the window is over');
        const usual = this.refundState === 'unknown' ? 'pending' : this.refundState;
        const state = way === 'lost' ? 'pending' : (way ?? usual);
        charge.refunds.set(key, { paymentId: paymentId ?? charge.providerReference, amount, state });
        if (way === 'lost') throw new PaymentError('unknown', 'timeout');
        if (way !== undefined) return { state: way, raw: { key } };
        if (!this.listsRefunds && state === 'done') charge.state = 'refunded';
        return { state: this.refundState, raw: { key } };
      }),
    readNotification: ({ body, headers }) => {
      if (headers['x-secret'] !== 'right') return undefined;
      const read = JSON.parse(body.toString()) as FakeNotice;
      return {
        reference: read.reference,
        providerReference: this.charges.get(read.reference)?.providerReference,
        eventKey: read.key,
        ...(read.paymentId !== undefined && { paymentId: read.paymentId }),
        ...(read.evidence !== undefined && { evidence: read.evidence }),
      };
    },
  };

  async #call<T>(call: Call, effect: () => T): Promise<T> {
    this.calls.push(call);
    await this.before(call);
    const failure = this.failures.get(call);
    if (failure !== undefined && !failure.hasEffect) throw failure.error;
    const result = effect();
    if (failure !== undefined) throw failure.error;
    return result;
  }

  #create(request: ChargeRequest): Charge {
    const known = this.charges.get(request.reference);
    if (known !== undefined && !this.takesEveryCharge) throw new PaymentError('unknown', 'duplicate reference');
    if (known !== undefined) return { providerReference: `U-${request.reference}`, qr: this.qrOf(request) };
    const providerReference = `T-${request.reference}`;
    this.charges.set(request.reference, {
      request,
      providerReference,
      state: 'pending',
      paid: undefined,
      cancels: 0,
      paidAt: new Date(),
      further: new Map(),
      refunds: new Map(),
    });
    return { providerReference, qr: this.qrOf(request) };
  }

  #charge(reference: string): FakeCharge {
    const charge = this.charges.get(reference);
    if (charge === undefined) throw new PaymentError('rejected', `no charge ${reference}`);
    return charge;
  }
}
