/** A page that cannot be shown, or a form that cannot be accepted, with a message for the visitor. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: number; // 400 to 599
  /** Key of the text. `<key>.title` is the heading if there is such a text, otherwise the status decides the heading. */
  readonly text: string;
  readonly details: PageErrorDetails;

  constructor(status: number, text: string, details: PageErrorDetails = {}) {
    super(text, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = status;
    this.text = text;
    this.details = details;
  }
}

/**
 * Throws for a path without a subject: `order ?? notFound(…)`.
 *
 * @param action link to offer instead
 * @throws PageError 404
 */
export function notFound(text: string, action?: PageErrorDetails['action']): never {
  throw new PageError(404, text, action && { action });
}

/** Details of an error page in addition to its text. */
export interface PageErrorDetails {
  /** Values for the placeholders of the text. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Button below the text; default: to the front page. */
  readonly action?: { readonly path: string; /** Key of its label. */ readonly label: string };
  /** For the log only. */
  readonly cause?: unknown;
}
