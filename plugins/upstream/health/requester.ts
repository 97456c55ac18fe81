/** Sender of a request. Failures that requests may have caused are counted per conversation and account. */
export interface Requester {
  /** Digest of the account, as sent to other instances; shared by all requests without an account. */
  readonly account: string;
  /** Unique across accounts. Computed on first use, because most requests never need it. */
  readonly conversation: string;
}

/** Stands for the requester where it makes no difference. */
export const unknownRequester: Requester = { account: '', conversation: '' };
