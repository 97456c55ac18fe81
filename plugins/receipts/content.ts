import type { OrderLine } from '#core/business/payments/order-lines.ts';

/** What a receipt states besides its columns, as of the payment. Stored as JSON: fields may be added, never renamed. */
export interface ReceiptContent {
  readonly seller: ReceiptSeller;
  /** Undefined if the seller stated no tax. */
  readonly tax?: ReceiptTax | undefined;
  /** The amount to which `rate` percent applies, if it is only part of the price before tax. */
  readonly taxBase?: number | undefined;
  /** Time zone in which dates are shown. */
  readonly timeZone: string;
  /** The purchased plan. */
  readonly plan: {
    readonly days: number;
    /** Name of the plan by language, as gateway.yaml had it at that time. */
    readonly label?: OrderLine['text'] | undefined;
    /** How it was sold, by language, unless it was sold to the buyer. */
    readonly remark?: OrderLine['text'] | undefined;
    /** Period of the pass, RFC 3339; undefined if the money gave the buyer no days. */
    readonly from?: string | undefined;
    readonly until?: string | undefined;
  };
  /** What the payment did: `activated`, or an outcome that activated no days. */
  readonly outcome: string;
  /** The buyer's bank or wallet. */
  readonly issuer?: string | undefined;
  /** The provider's reference for the payment. */
  readonly reference: string;
  /** Lines that plugins added when the order was placed. */
  readonly lines?: readonly OrderLine[] | undefined;
}

export interface ReceiptSeller {
  readonly name: string;
  /** May contain line breaks. */
  readonly address?: string | undefined;
  /** Only if a tax is stated, because a person's tax number is also an identity card number. */
  readonly npwp?: string | undefined;
  readonly contact?: string | undefined;
  readonly registrations?: readonly string[] | undefined;
}

/** The `base` of a tax that applies to the whole price before tax. */
export const wholePrice = '1';

export interface ReceiptTax {
  readonly name: string;
  /** Percent of `base`. */
  readonly rate: number;
  /** The fraction of the price to which the rate applies, such as `11/12`; `1` for all of it. */
  readonly base: string;
  readonly rounding: 'nearest' | 'down' | 'up';
}
