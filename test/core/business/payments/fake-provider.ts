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
} from '#core/business/payments/payment-provider.ts';

/** A charge at the fake provider. */
export interface FakeCharge {
  readonly request: ChargeRequest;
  readonly providerReference: string;
  state: PaymentState;
  paid: Money | undefined;
  cancels: number;
}

type Call = 'charge' | 'status' | 'cancel' | 'refund';

/** A provider in memory, whose answers a test decides. */
export class FakeProvider {
  readonly name: string;
  readonly charges = new Map<string, FakeCharge>();
  readonly calls: Call[] = [];
  readonly refunds = new Map<string, number>();
  refundState: Refund['state'] = 'done';
  /** As Xendit does: a second charge for a reference is another charge, and a second refund while one is pending is refused. */
  takesEveryCharge = false;
  refusesRepeatedRefunds = false;
  /** What the next calls of this kind fail with, before or after they have had their effect. */
  readonly failures = new Map<Call, { readonly error: Error; readonly hasEffect: boolean }>();
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
    charge.paid = paid ?? { amount, currency };
    return charge;
  }

  end(reference: string, state: PaymentState): void {
    this.#charge(reference).state = state;
  }

  /** What a status read says now. */
  evidence(reference: string): PaymentEvidence {
    const charge = this.charges.get(reference);
    if (charge === undefined)
      return { reference, providerReference: undefined, state: 'unknown', raw: { error: 'not found' } };
    const { providerReference, state, paid } = charge;
    return {
      reference,
      providerReference,
      state,
      ...(paid !== undefined && { paid, paymentId: providerReference }),
      raw: { state },
    };
  }

  get provider(): PaymentProvider {
    return { name: this.name, title: 'Fake', currencies: ['IDR'], connect: () => this.connection };
  }

  readonly connection: PaymentConnection = {
    callsPerSecond: 10_000,
    charge: (request) => this.#call('charge', () => this.#create(request)),
    status: ({ reference }) => this.#call('status', () => this.evidence(reference)),
    cancel: ({ reference }) =>
      this.#call('cancel', () => {
        const charge = this.#charge(reference);
        charge.cancels++;
        if (charge.state === 'pending') charge.state = 'failed';
        return this.evidence(reference);
      }),
    refund: ({ key, amount, reference }) =>
      this.#call('refund', () => {
        if (this.refusesRepeatedRefunds && this.refunds.size > 0)
          throw new PaymentError('rejected', 'REFUND_IN_PROGRESS');
        this.refunds.set(key, amount);
        if (this.refundState === 'done') this.#charge(reference).state = 'refunded';
        return { state: this.refundState, raw: { key } };
      }),
    readNotification: ({ body, headers }) => {
      if (headers['x-secret'] !== 'right') return undefined;
      const read = JSON.parse(body.toString()) as { reference: string; key: string; evidence?: PaymentEvidence };
      return {
        reference: read.reference,
        providerReference: this.charges.get(read.reference)?.providerReference,
        eventKey: read.key,
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
    if (known !== undefined) return { providerReference: `U-${request.reference}`, qr: `QR 2 ${request.reference}` };
    const providerReference = `T-${request.reference}`;
    this.charges.set(request.reference, { request, providerReference, state: 'pending', paid: undefined, cancels: 0 });
    return { providerReference, qr: `QR ${request.reference}` };
  }

  #charge(reference: string): FakeCharge {
    const charge = this.charges.get(reference);
    if (charge === undefined) throw new PaymentError('rejected', `no charge ${reference}`);
    return charge;
  }
}
