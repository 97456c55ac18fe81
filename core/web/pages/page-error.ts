/** A page that cannot be shown, or a form that cannot be accepted, with a message for the visitor. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: number; // 400 to 599
  /** Key of the text. `<key>.title` is the heading when there is such a text, otherwise that of the status. */
  readonly text: string;
  readonly details: PageErrorDetails;

  constructor(status: number, text: string, details: PageErrorDetails = {}) {
    super(text, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = status;
    this.text = text;
    this.details = details;
  }
}

/** In place of what an address names: `found ?? notFound(…)`. @param action the way to what there is @throws PageError 404 */
export function notFound(text: string, action?: PageErrorDetails['action']): never {
  throw new PageError(404, text, action && { action });
}

/** Details of an error page in addition to its text. */
export interface PageErrorDetails {
  /** For the placeholders of the text. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** The button below the text; it leads to the front page when left out. */
  readonly action?: { readonly path: string; /** Key of its label. */ readonly label: string };
  /** For the log only. */
  readonly cause?: unknown;
}
