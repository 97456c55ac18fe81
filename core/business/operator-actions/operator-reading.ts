import type { Host } from '#core/gateway/host/host.ts';

/** Something that can be read over the operator API. */
export interface OperatorReading {
  /** Path below the root of the API: one segment, followed by `{handle}` for a single object. */
  readonly path: string;
  readonly summary: string;
  /** Query parameters and their descriptions; default: none. */
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Reads the resource.
   *
   * @returns JSON; member names are converted from camelCase to snake_case
   * @throws AccountError, CheckoutError, InvalidQuery with messages for people
   */
  read(host: Host, handle: string, query: URLSearchParams): Promise<object>;
}
