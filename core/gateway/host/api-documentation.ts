import type { Dialect } from '#core/platform/errors/dialects.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { JsonSchema } from '#core/platform/schema.ts';

/** Documentation of an endpoint. Endpoints without documentation are not listed. */
export interface EndpointDocumentation {
  /** Key of a text that describes the endpoint in one sentence. */
  readonly summary: string;
  /** Schema of the request body; omitted for endpoints without one. */
  readonly body?: JsonSchema;
  /** True for a body that is a form with files. */
  readonly isForm?: boolean;
  /** Query parameters, all optional. */
  readonly query?: Readonly<Record<string, JsonSchema>>;
  /**
   * Returns a valid request body.
   *
   * @param model public name of a model
   */
  example?(model: string): JsonObject;
  /** True if the response can be streamed as server-sent events; `always` if it always is. */
  readonly stream?: boolean | 'always';
  /** The vendor's page that defines the format. */
  readonly reference?: string;
}

/** A header of requests or responses. */
export interface DocumentedHeader {
  readonly name: string;
  readonly in: 'request' | 'response';
  /** Key of the text that describes the header. */
  readonly text: string;
  /** Values of the text's placeholders. */
  readonly values?: Readonly<Record<string, string | number>>;
  readonly example: string;
  /** True for a header that carries the caller's key. */
  readonly isCredential?: boolean;
  /** Dialect whose clients send or receive the header; default: all dialects. */
  readonly dialect?: Dialect;
}

/** A limit in effect. */
export interface DocumentedLimit {
  /** Key of a text that describes the limit. */
  readonly text: string;
  readonly values: Readonly<Record<string, string | number>>;
}

/** Headers and limits that a configured stage adds to the API. */
export interface StageDocumentation {
  readonly headers?: readonly DocumentedHeader[];
  readonly limits?: readonly DocumentedLimit[];
}
