import type { Audience } from '#core/platform/errors/table.ts';
import type { ReplyText } from './reply-text.ts';
import type { ModelKind } from './kinds.ts';
import type { ReasoningStyle } from './quirks.ts';

/**
 * The part of a wire format that core uses. Plugins register formats.
 *
 * The path determines a client's format before any stage runs, so even the first refusal has its shape.
 */
export interface WireFormat extends Audience {
  /** Name in gateway.yaml: chat, responses, messages, … */
  readonly name: string;
  /** Kind of the models that this format calls. */
  readonly kind: ModelKind;
  /** Supported forms of requests for reasoning; empty for formats without conversations. */
  readonly reasoningStyles: readonly ReasoningStyle[];
  /** Places of the answer's text in its replies; undefined for formats without client conversations. */
  readonly replyText?: ReplyText;
  /** Reads the content of an answer that a stage has changed, for its digest; undefined for formats without conversations. */
  readContent?(contentType: string): SentReader;
}

/** Reads an answer in the form that the client receives. */
export interface SentReader {
  /** Copies what it keeps; never throws. */
  add(chunk: string | Buffer): void;
  /** Digest of the content so far; undefined without content. */
  digest(): string | undefined;
}

/** Registered formats by name. */
export type WireFormats = ReadonlyMap<string, WireFormat>;
