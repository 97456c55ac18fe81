import type { Host } from '#core/gateway/host/host.ts';

/** A resource that the operator's API reads. */
export interface OperatorReading {
  /** Path below the root of the API: one segment, followed by `{handle}` for a single resource. */
  readonly path: string;
  readonly summary: string;
  /** Query parameters with their descriptions; default: none. */
  readonly query?: Readonly<Record<string, string>>;
  /**
   * Reads the resource.
   *
   * @returns JSON, whose member names change from camelCase to snake_case
   * @throws AccountError, CheckoutError, InvalidQuery with messages for people
   */
  read(host: Host, handle: string, query: URLSearchParams): Promise<object>;
}
