import type { Audience } from '#core/platform/errors/table.ts';
import type { ModelKind } from './kinds.ts';
import type { ReasoningStyle } from './quirks.ts';
import type { ReplyText } from './reply-text.ts';

/**
 * The part of a wire format that core uses. Plugins register formats.
 *
 * The path determines a client's format before any stage runs, so that even the first rejection is rendered in it.
 */
export interface WireFormat extends Audience {
  /** Name in gateway.yaml: chat, responses, messages, … */
  readonly name: string;
  /** Kind of models that requests of this format call. */
  readonly kind: ModelKind;
  /** Supported ways to request reasoning; empty for formats without conversations. */
  readonly reasoningStyles: readonly ReasoningStyle[];
  /** Locates the text of replies; undefined for formats without conversations. */
  readonly replyText?: ReplyText;
  /** Creates a reader for the digest of a reply that a stage has changed; undefined for formats without conversations. */
  readContent?(contentType: string): SentReader;
}

/** Reads the content of a reply as sent to the client. */
export interface SentReader {
  /** Reads the next chunk, which may be reused afterwards. Never throws. */
  add(chunk: string | Buffer): void;
  /** Digest of the content so far; undefined without content. */
  digest(): string | undefined;
}

/** Registered formats by name. */
export type WireFormats = ReadonlyMap<string, WireFormat>;
