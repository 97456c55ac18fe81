import type { OrderLine } from '#core/business/payments/order-lines.ts';

/** Content of a receipt besides its columns, as of the payment. Stored as JSON: fields may be added, never renamed. */
export interface ReceiptContent {
  readonly seller: ReceiptSeller;
  readonly tax?: ReceiptTax | undefined; // undefined if the seller stated no tax
  readonly taxBase?: number | undefined; // the amount to which `rate` percent applies, if it is only part of the price before tax
  readonly timeZone: string; // in which dates are shown
  readonly plan: {
    readonly days: number;
    readonly label?: OrderLine['text'] | undefined; // by language, as in gateway.yaml at that time
    readonly remark?: OrderLine['text'] | undefined; // how the plan was sold, by language; undefined if it was for the buyer
    readonly from?: string | undefined; // start of the pass, RFC 3339; undefined if the payment gave the buyer no days
    readonly until?: string | undefined;
  };
  readonly outcome: string; // `activated`, or an outcome that activated no days
  readonly issuer?: string | undefined; // the buyer's bank or wallet
  readonly reference: string; // the provider's reference for the payment
  readonly lines?: readonly OrderLine[] | undefined; // added by plugins when the order was placed
}

export interface ReceiptSeller {
  readonly name: string;
  readonly address?: string | undefined; // may contain line breaks
  readonly npwp?: string | undefined; // only with a tax, because a person's tax number is also an identity card number
  readonly contact?: string | undefined;
  readonly registrations?: readonly string[] | undefined;
}

export const wholePrice = '1'; // the `base` of a tax that applies to the whole price before tax

export interface ReceiptTax {
  readonly name: string;
  readonly rate: number; // percent of `base`
  readonly base: string; // fraction of the price to which the rate applies, such as `11/12`; `1` for all of it
  readonly rounding: 'nearest' | 'down' | 'up';
}
