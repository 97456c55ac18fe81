import type { RecordOrder } from '#core/business/payments/order-lines.ts';
import type { Awaitable } from '#core/platform/timing/when-settled.ts';
import type { PageRequest } from './page.ts';

/** A part of a sentence; if it has a path, it is a link. */
export interface SentencePiece {
  readonly text: string;
  readonly path?: string | undefined;
}

interface CheckoutField {
  /** Name in the step's `fields`. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly inputMode?: 'numeric' | 'email' | 'tel';
  /** HTML's `autocomplete` value, such as `organization`; default: `off`. */
  readonly autocomplete?: string;
}

interface CheckoutBox {
  /** Name in the step's `fields`; sent as `1` if ticked. */
  readonly name: string;
  readonly label: string;
}

/** A step's additions to the payment page, in the buyer's language. */
export interface CheckoutPart {
  /** Shown below the button. */
  readonly sentence?: readonly SentencePiece[];
  /** Hidden fields of the form, by name. */
  readonly hidden?: Readonly<Record<string, string>>;
  readonly boxes?: readonly CheckoutBox[];
  /** Shown below the boxes. */
  readonly boxNote?: readonly SentencePiece[];
  /** Collapsed until the buyer opens it. */
  readonly fold?: { readonly title: string; readonly text?: string; readonly fields: readonly CheckoutField[] };
}

/** A plugin's addition to the checkout: it asks or shows something, and stores it with the order. */
export interface CheckoutStep {
  readonly name: string;
  /** Maximum length of each form field of the step, by name. Names must be unique across steps. */
  readonly fields: Readonly<Record<string, number>>;
  /** @returns undefined if there is nothing to show at the moment */
  show(request: PageRequest): Awaitable<CheckoutPart | undefined>;
  /**
   * Reads the step's fields before the order is placed.
   *
   * @param sent values by name, without empty fields
   * @returns a function that stores them with the order; undefined if there is nothing to store
   * @throws FieldErrors to show the page again; the returned function may throw it too
   */
  submit(sent: Readonly<Record<string, string | undefined>>, request: PageRequest): Awaitable<RecordOrder | undefined>;
}
