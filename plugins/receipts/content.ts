import type { OrderLine } from '#core/business/payments/order-lines.ts';

/** Content of a receipt besides its columns, as of the payment. Stored as JSON: members may be added, never renamed. */
export interface ReceiptContent {
  readonly seller: ReceiptSeller;
  /** Undefined if the seller stated no tax. */
  readonly tax?: ReceiptTax | undefined;
  /** Amount to which `rate` percent applies, if it is only a part of the price without tax. */
  readonly taxBase?: number | undefined;
  /** Time zone of the dates. */
  readonly timeZone: string;
  /** The purchased plan. */
  readonly plan: {
    readonly days: number;
    /** Name of the plan by language, from gateway.yaml at that time. */
    readonly label?: OrderLine['text'] | undefined;
    /** How it was sold, by language, if not to its buyer. */
    readonly remark?: OrderLine['text'] | undefined;
    /** Period of the pass, RFC 3339; undefined for money that gave its buyer no days. */
    readonly from?: string | undefined;
    readonly until?: string | undefined;
  };
  /** Effect of the payment: `activated`, or another outcome that activated no days. */
  readonly outcome: string;
  /** The buyer's bank or wallet. */
  readonly issuer?: string | undefined;
  /** Reference of the payment at its provider. */
  readonly reference: string;
  /** Lines that plugins added when the order was placed. */
  readonly lines?: readonly OrderLine[] | undefined;
}

export interface ReceiptSeller {
  readonly name: string;
  /** May contain line breaks. */
  readonly address?: string | undefined;
  /** Set only if tax is stated, because a person's tax number is an identity card number. */
  readonly npwp?: string | undefined;
  readonly contact?: string | undefined;
  readonly registrations?: readonly string[] | undefined;
}

/** Value of `base` for a tax on the whole price without tax. */
export const wholePrice = '1';

export interface ReceiptTax {
  readonly name: string;
  /** Percent of `base`. */
  readonly rate: number;
  /** Fraction of the price to which the rate applies, such as `11/12`; `1` for the whole price. */
  readonly base: string;
  readonly rounding: 'nearest' | 'down' | 'up';
}
