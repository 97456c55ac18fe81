import type { MovementPage, TimeSpan } from '#core/business/payments/payment-provider.ts';
import { type FakeCharge, FakeProvider } from '../core/business/payments/fake-provider.ts';

/** The bank of the month. It has a clock, states when money came and went back, and confirms some refunds hours after they were requested. */
export class MonthBank extends FakeProvider {
  override listsRefunds = true;
  readonly #now: () => number;
  /** When money moved, by the id of a payment or the key of a refund. */
  readonly #times = new Map<string, Date>();

  /** @param now ms since the epoch */
  constructor(name: string, now: () => number) {
    super(name);
    this.#now = now;
    const { connection } = this;
    const { refund } = connection;
    connection.cancel = ({ reference }) => {
      if (this.charges.get(reference)?.state === 'pending') this.end(reference, 'expired');
      return Promise.resolve(this.evidence(reference));
    };
    connection.refund = async (request, signal) => {
      const made = await refund?.(request, signal);
      this.#times.set(request.key, new Date(now()));
      return made ?? { state: 'unknown', raw: null };
    };
    connection.listMovements = (span) => Promise.resolve(this.#movements(span));
  }

  override pay(...paid: Parameters<FakeProvider['pay']>): FakeCharge {
    const charge = super.pay(...paid);
    this.#times.set(charge.providerReference, new Date(this.#now()));
    return charge;
  }

  override payAgain(...paid: Parameters<FakeProvider['payAgain']>): string {
    const id = super.payAgain(...paid);
    this.#times.set(id, new Date(this.#now()));
    return id;
  }

  override confirm(reference: string, key: string, at: Date): void {
    super.confirm(reference, key, at);
    this.#times.set(key, at);
  }

  /** All of it on one page. */
  #movements({ since, until }: TimeSpan): MovementPage {
    const all = [...this.charges.values()].flatMap(({ request, providerReference, paid, further, refunds }) => {
      const { reference } = request;
      const payments = [...(paid === undefined ? [] : [[providerReference, paid] as const]), ...further];
      const done = [...refunds].filter(([, { state }]) => state === 'done');
      return [
        ...payments.map(([id, money]) => ({ kind: 'payment' as const, id, reference, ...money })),
        ...done.map(([key, { amount }]) => ({
          kind: 'refund' as const,
          id: key,
          key,
          reference,
          amount,
          currency: 'IDR',
        })),
      ];
    });
    const dated = all.map((one) => ({ ...one, at: this.#times.get(one.id) ?? new Date(0) }));
    return { movements: dated.filter(({ at }) => at >= since && at < until), next: undefined };
  }
}
