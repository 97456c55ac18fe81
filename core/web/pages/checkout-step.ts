import type { RecordOrder } from '#core/business/payments/order-lines.ts';
import type { PageRequest } from './page.ts';

type Awaitable<T> = T | Promise<T>;

/** A part of a sentence; one with a path is a link. */
export interface SentencePiece {
  readonly text: string;
  readonly path?: string | undefined;
}

/** A line of text that the buyer may fill in. */
interface CheckoutField {
  /** As in `fields` of the step. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly inputMode?: 'numeric' | 'email' | 'tel';
  /** As in HTML: `organization`; `off` when left out. */
  readonly autocomplete?: string;
}

/** A box that is not ticked. */
interface CheckoutBox {
  /** As in `fields` of the step; sent as `1` when it is ticked. */
  readonly name: string;
  readonly label: string;
}

/** What a step shows where a buyer pays. Texts are ready to be printed. */
export interface CheckoutPart {
  /** Below the button. */
  readonly sentence?: readonly SentencePiece[];
  /** Sent with the form, by name. */
  readonly hidden?: Readonly<Record<string, string>>;
  readonly boxes?: readonly CheckoutBox[];
  /** Below the boxes. */
  readonly boxNote?: readonly SentencePiece[];
  /** Folded until the buyer opens it. */
  readonly fold?: { readonly title: string; readonly text?: string; readonly fields: readonly CheckoutField[] };
}

/** Something that a plugin asks or tells where a buyer pays, and stores with the order. */
export interface CheckoutStep {
  readonly name: string;
  /** What the form sends for it: the most characters by name of the field. A name belongs to one step. */
  readonly fields: Readonly<Record<string, number>>;
  /** @returns undefined where there is nothing to show now */
  show(request: PageRequest): Awaitable<CheckoutPart | undefined>;
  /**
   * Reads what was sent, before the order is placed.
   *
   * @param sent by name; fields that are empty are missing
   * @returns what stores it; undefined where there is nothing to store
   * @throws FieldErrors to show the page again; what is returned may throw them too
   */
  submit(sent: Readonly<Record<string, string | undefined>>, request: PageRequest): Awaitable<RecordOrder | undefined>;
}
