/** Owner of a request: failures that a request may have caused count for its conversation and its account. */
export interface Requester {
  /** A digest of the account, as instances report it to each other; the same for all requests without an account. */
  readonly account: string;
  /** Unique across accounts. Computed when it is read first, since most requests never need it. */
  readonly conversation: string;
}

/** A requester that is not known. */
export const nobody: Requester = { account: '', conversation: '' };
