import type { Host } from '#core/gateway/host/host.ts';

/** A resource that the operator's API reads. */
export interface OperatorReading {
  /** Below the root of the API: one segment, followed by `{handle}` for a single resource. */
  readonly path: string;
  readonly summary: string;
  /** Query parameters with their descriptions; default: none. */
  readonly query?: Readonly<Record<string, string>>;
  /**
   * @returns JSON; names of members in camelCase become snake_case
   * @throws AccountError, CheckoutError, InvalidQuery with messages for people
   */
  read(host: Host, handle: string, query: URLSearchParams): Promise<object>;
}
