/** Who sent a request. Failures that requests may have caused are counted per conversation and account. */
export interface Requester {
  /** Digest of the account, as sent to other instances. All requests without an account share one. */
  readonly account: string;
  /** Unique across accounts. Computed on first use, because most requests never need it. */
  readonly conversation: string;
}

/** For callers where the requester makes no difference. */
export const unknownRequester: Requester = { account: '', conversation: '' };
