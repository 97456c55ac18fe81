/** Thrown if a page cannot be shown or a form cannot be accepted, with a message for the visitor. */
export class PageError extends Error {
  override readonly name = 'PageError';
  readonly status: number; // 400 to 599
  /** Text key. If there is a text `<key>.title`, it is the heading; otherwise the heading depends on the status. */
  readonly text: string;
  readonly details: PageErrorDetails;

  constructor(status: number, text: string, details: PageErrorDetails = {}) {
    super(text, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = status;
    this.text = text;
    this.details = details;
  }
}

/** Throws a PageError 404, as in `order ?? notFound(…)`. `action` is a link to offer instead. */
export function notFound(text: string, action?: PageErrorDetails['action']): never {
  throw new PageError(404, text, action && { action });
}

/** Content of an error page besides its text. */
export interface PageErrorDetails {
  /** Values for the text's placeholders. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** Button below the text; default: a link to the front page. */
  readonly action?: { readonly path: string; /** Key of its label. */ readonly label: string };
  /** Only logged. */
  readonly cause?: unknown;
}
