import type { Audience } from '#core/platform/errors/table.ts';
import type { ModelKind } from './kinds.ts';
import type { ReasoningStyle } from './quirks.ts';
import type { ReplyText } from './reply-text.ts';

/**
 * What core needs to know about a wire format. Plugins register formats.
 *
 * The path determines a client's format before any stage runs, so that even the earliest rejection is rendered in it.
 */
export interface WireFormat extends Audience {
  /** Name, as in gateway.yaml: chat, responses, messages, … */
  readonly name: string;
  /** The kind of model that requests in this format call. */
  readonly kind: ModelKind;
  /** Supported ways to ask for reasoning; empty if the format has no conversations. */
  readonly reasoningStyles: readonly ReasoningStyle[];
  /** Locates the text in replies; undefined if the format has no conversations. */
  readonly replyText?: ReplyText;
  /** Creates a reader that computes the digest of a reply that a stage has changed; undefined if the format has no conversations. */
  readContent?(contentType: string): SentReader;
}

/** Reads the content of a reply as the client gets it. */
export interface SentReader {
  /** Reads the next chunk. The caller may reuse the chunk afterwards. Never throws. */
  add(chunk: string | Buffer): void;
  /** Returns the digest of the content so far; undefined if there is none. */
  digest(): string | undefined;
}

/** Registered formats, by name. */
export type WireFormats = ReadonlyMap<string, WireFormat>;
