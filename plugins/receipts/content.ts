import type { OrderLine } from '#core/business/payments/order-lines.ts';

/** What a receipt says beside its columns, as it was when the money came. Stored as JSON: members are added, never renamed. */
export interface ReceiptContent {
  readonly seller: ReceiptSeller;
  /** Undefined where the seller stated no tax. */
  readonly tax?: ReceiptTax | undefined;
  /** Amount of which the tax is `rate` percent, where that is a part of the price without tax. */
  readonly taxBase?: number | undefined;
  /** Zone of the dates. */
  readonly timeZone: string;
  /** What was bought. */
  readonly plan: {
    readonly days: number;
    readonly isGift: boolean;
    /** Name of the plan by language, as gateway.yaml had it. */
    readonly label?: { readonly en: string; readonly id: string } | undefined;
    /** Times of the pass, RFC 3339; undefined for a gift and for money that activated nothing. */
    readonly from?: string | undefined;
    readonly until?: string | undefined;
  };
  /** Effect of the payment: `activated`, or money that bought nothing. */
  readonly outcome: string;
  /** Bank or wallet of the buyer. */
  readonly issuer?: string | undefined;
  /** Names the payment at its provider. */
  readonly reference: string;
  /** What plugins said about the order when it was placed. */
  readonly lines?: readonly OrderLine[] | undefined;
}

export interface ReceiptSeller {
  readonly name: string;
  /** May have line breaks. */
  readonly address?: string | undefined;
  /** Only where tax is stated: that of a person is the number of an identity card. */
  readonly npwp?: string | undefined;
  readonly contact?: string | undefined;
  readonly registrations?: readonly string[] | undefined;
}

/** `base` of a tax of which the rate applies to the whole price without tax. */
export const wholePrice = '1';

export interface ReceiptTax {
  readonly name: string;
  /** Percent of `base`. */
  readonly rate: number;
  /** Part of the price to which the rate applies, such as `11/12`; `1` for all of it. */
  readonly base: string;
  readonly rounding: 'nearest' | 'down' | 'up';
}
