import type { Dialect, Format } from '../catalog/formats.ts';
import type { Exchange } from './exchange.ts';
import type { Reply } from './reply.ts';

/**
 * A path on which the pipeline runs.
 *
 * A model call is answered by a stage (`upstream`, or `cache` before it). An endpoint with an `answer` of its own is
 * answered by that, after every stage has entered: its facts are then known.
 */
export interface Endpoint {
  /** Snake_case; stages and records tell requests apart by it: `chat`, `count_tokens`, `list_models`. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Begins with `/v1/` or `/v1beta/`; `{name}` is one segment, `{name*}` the rest of the path. */
  readonly path: string;
  /** Wire format of its body; undefined where no model is called. */
  readonly format?: Format | undefined;
  /** Whose errors its clients read; left out where the request's headers decide. */
  readonly dialect?: Dialect | undefined;
  /**
   * True when a call counts against the limits, and its answer may be kept. It needs an active period; so does every POST
   * in a format, metered or not.
   */
  readonly isMetered: boolean;
  /** True when it is answered to whoever asks: `auth` looks at no key, and stages find no principal. */
  readonly isPublic?: boolean;
  /** True when it is also served without `/v1` in front, where misconfigured tools look for it. */
  readonly isAliased?: boolean;
  readonly answer?: ((exchange: Exchange) => Reply | Promise<Reply>) | undefined;
}
