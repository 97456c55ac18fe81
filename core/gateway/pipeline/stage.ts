import type { CheckContext, Report, SectionValues, YamlPath } from '#core/config/section.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Infer, JsonSchema } from '#core/platform/schema.ts';
import type { Awaitable } from '#core/platform/timing/when-settled.ts';
import type { StageDocumentation } from '../host/api-documentation.ts';
import type { Host } from '../host/host.ts';
import type { Exchange } from './exchange.ts';
import type { AnyFact } from './fact.ts';
import type { Reply } from './reply.ts';

/** Produces the reply after the later stages have entered. */
export type DeferredAnswer = () => Awaitable<Reply>;

/** How an exchange ended. */
export interface Outcome {
  /**
   * `answered`: as intended. `refused`: 4xx by the gateway. `failed`: 5xx, or truncated. `aborted`: the client disconnected or stopped
   * reading.
   */
  readonly kind: 'answered' | 'refused' | 'failed' | 'aborted';
  /** Status sent; undefined if the client disconnected before that. */
  readonly status: number | undefined;
  readonly error: GatewayError | undefined;
  readonly bytesSent: number; // of the body
  readonly duration: number; // ms since the request arrived
  /** Ms until the first byte of the body was sent; undefined if none was. */
  readonly firstByteAfter: number | undefined;
}

/**
 * A stage's behavior in one pipeline. Every moment is optional.
 *
 * - `activate` runs once, in list order, when the whole pipeline has been built and serves new exchanges. Only here may a stage change
 *   objects that outlive it, such as an object returned by `host.keep`, because during `create` a later stage may still reject the
 *   configuration. It must not throw; an error is logged with the stage's name.
 * - `start` runs for every stage, in list order, as soon as the request line and headers are known. It cannot refuse.
 * - `enter` runs in list order. Return nothing to continue, a reply to answer now, or a function to answer after the later stages have
 *   entered. Throw a GatewayError to refuse.
 * - `hold` runs for every stage, in list order, before any part of a reply is sent, including refusals and the early reply of a detached
 *   exchange. The reply waits for the promise that it may return. It cannot change the reply, and must not reject.
 * - `leave` runs in reverse order for the stages that were entered, refused exchanges included, when status and headers are known and
 *   nothing has been sent. It may return another reply (more headers, a wrapped body).
 * - `done` runs for every stage, in list order, exactly once, however the exchange ended.
 *
 * A moment that never waits should not be async, so that the pipeline can call it without a promise.
 */
export interface Stage {
  /**
   * Seconds that `enter`, its deferred answer, `leave`, `done` or a pause in a body may take, for stages that need longer than
   * `listen.stage_timeout`. After that the client gets an error, and the log names the stage. A stage that bounds every wait itself sets
   * `Infinity`, which saves the cost of watching it on each request.
   */
  readonly timeout?: number;
  /**
   * True if the stage's replies have the content that the serving route, or the stage itself, has reported. Otherwise the content is read
   * as it is sent, for the digest in the record.
   */
  readonly keepsContent?: boolean;
  activate?(): void;
  /**
   * Finds the account of a request before it starts; undefined if there is none. Called only while two configurations serve different
   * accounts. It must have no side effects, because the stage finds the account again in `enter`.
   */
  accountOf?(exchange: Exchange): Awaitable<string | undefined>;
  start?(exchange: Exchange): void;
  enter?(exchange: Exchange): Awaitable<Reply | DeferredAnswer | void>;
  hold?(exchange: Exchange): Promise<void> | undefined;
  leave?(exchange: Exchange, reply: Reply): Awaitable<Reply | void>;
  done?(exchange: Exchange, outcome: Outcome): Awaitable<void>;
  /** Releases the resources opened by `create`, after the last exchange on this pipeline. */
  [Symbol.asyncDispose]?(): Awaitable<void>;
}

/**
 * Observes every exchange in any configuration, after the stages, and changes nothing. `start` and `done` run as in a stage, but must not
 * wait, because they run for every request.
 */
export interface Observer {
  readonly name: string;
  /** False if this configuration does not need the observer, which saves its cost on each request. Default: true. */
  isWanted?(host: Host): boolean;
  start?(exchange: Exchange): void;
  done?(exchange: Exchange, outcome: Outcome): void;
}

/** A stage that gateway.yaml can list. */
export interface StageDefinition<S extends JsonSchema = JsonSchema> {
  /** Kebab-case, as listed in gateway.yaml. */
  readonly name: string;
  /** One line, shown by `daypass check` and by editors. */
  readonly description: string;
  /** Facts that an earlier stage must have written. Optional facts are not listed; use `exchange.find`. */
  readonly reads?: readonly AnyFact[];
  /** Facts that the stage writes. */
  readonly writes?: readonly AnyFact[];
  /** Names of stages that must come before this one, if they are listed. */
  readonly after?: readonly string[];
  /** Source of validation, defaults, the TypeScript type, editor completion and docs of the options. */
  readonly options: S;
  /**
   * Options that `activate` applies to state that outlives the stage. Configurations that serve concurrently cannot differ in these options.
   * Default for a stage with `activate`: all options.
   */
  readonly shared?: readonly string[];
  /** Purpose of the stage, for a message. If set, a pipeline must list the stage or turn it off, as in `log: false`. */
  readonly expectedFor?: string;
  /**
   * Checks rules across options, in addition to the schema. Reports about values that are not in the file are dropped, because a default
   * cannot be wrong.
   *
   * @param path path of the options
   */
  check?(options: Infer<S>, path: YamlPath, report: Report, all: CheckContext): void;
  /** Returns warnings about valid but probably unintended options, for `daypass check` and the startup log. */
  notices?(options: Infer<S>, all: SectionValues): readonly string[];
  /** Describes the configured stage for the API documentation. */
  documentation?(options: Infer<S>, host: Host): StageDocumentation;
  /**
   * Creates the stage, or throws to reject the configuration. It must have no effect outside the returned stage, because the pipeline may
   * never serve. Other changes belong in `activate`.
   */
  create(options: Infer<S>, host: Host): Awaitable<Stage>;
}

/** A definition without the types of its options, as stored in the registry. */
export type AnyStageDefinition = Omit<StageDefinition, 'create' | 'check' | 'notices' | 'documentation'> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- the options were checked against the schema that typed them
  check?(options: any, path: YamlPath, report: Report, all: CheckContext): void;
  // oxlint-disable-next-line typescript/no-explicit-any -- the options were checked against the schema that typed them
  notices?(options: any, all: SectionValues): readonly string[];
  // oxlint-disable-next-line typescript/no-explicit-any -- the options were checked against the schema that typed them
  create(options: any, host: Host): Awaitable<Stage>;
  // oxlint-disable-next-line typescript/no-explicit-any -- the options were checked against the schema that typed them
  documentation?(options: any, host: Host): StageDocumentation;
};

const noOptions = { type: 'object', additionalProperties: false } as const satisfies JsonSchema;

/** Defines a stage and infers the type of its options from their schema. A stage without `options` accepts none. */
export function defineStage<const S extends JsonSchema = typeof noOptions>(
  definition: Omit<StageDefinition<S>, 'options'> & { readonly options?: S },
): StageDefinition<S> {
  return { options: noOptions as unknown as S, ...definition };
}
