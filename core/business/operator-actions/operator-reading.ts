import type { Host } from '#core/gateway/host/host.ts';

/** Something that the operator's API reads. */
export interface OperatorReading {
  /** Below the root of the API: one segment, and `{handle}` after it for the one that is read. */
  readonly path: string;
  readonly summary: string;
  /** Parameters of its query, with their descriptions. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * @returns JSON; names of members in camelCase become snake_case
   * @throws AccountError, CheckoutError, InvalidQuery with messages for people
   */
  read(host: Host, handle: string, query: URLSearchParams): Promise<object>;
}
