import type { JsonObject } from '#core/platform/json.ts';

/**
 * A client's request, independent of vendors: a superset of all text formats. Decoders write it, encoders read it.
 *
 * Invariants, which decoders keep and encoders rely on:
 * - instructions precede the dialogue; a later system message is an item in its place, so that the beginning of a prompt
 *   stays the same from turn to turn and vendors' prompt caches hit;
 * - no text part is empty, no message has no parts;
 * - after `normalizeCalls` every call has exactly one result, results follow their run of calls in the calls' order.
 */
export interface Conversation extends Settings {
  readonly instructions: readonly string[];
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  readonly reasoning: ReasoningRequest | undefined;
  readonly output: OutputFormat | undefined;
  /** True when the cache key is derived from the user, not requested by the client. */
  readonly isCacheKeyImplied?: boolean | undefined;
  /** True when the client wants the prompt up to the end of the instructions to be cached. */
  readonly areInstructionsCached?: true | undefined;
  /** How long the client wants the beginning of the prompt to be cached, where it is longer than by default. */
  readonly cacheLife?: '1h' | undefined;
}

/** Settings of a request in parameters of its own, see contract/parameters.ts. */
export interface Settings {
  readonly sampling: Sampling;
  /** False: one call at a time. */
  readonly parallelToolCalls?: boolean | undefined;
  readonly maxOutputTokens?: number | undefined; // tokens, reasoning included
  readonly stop: readonly string[];
  readonly verbosity?: string | undefined;
  /** The caller's own end user. */
  readonly user?: string | undefined;
  /** OpenAI's own name of the end user; other vendors know only `user`. */
  readonly safetyId?: string | undefined;
  /** Shared by requests with the same beginning. */
  readonly cacheKey?: string | undefined;
  /** How long OpenAI keeps that beginning: `in_memory`, `24h`. */
  readonly cacheRetention?: string | undefined;
  readonly serviceTier?: string | undefined;
  /** True for a client that wants images beside the text; models that make them may need to be asked. */
  readonly wantsImages?: boolean | undefined;
  /** The most likely tokens wanted beside each token of the answer, for a client that wants log probabilities. */
  readonly topLogprobs?: number | undefined;
  /** The client's own labels; undefined when there are none. */
  readonly metadata?: JsonObject | undefined;
  /** Number of answers requested; 1 by default. */
  readonly candidates: number;
}

export type Item = Message | Reasoning | ToolCall | ToolResult;

export interface Message {
  readonly type: 'message';
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly Part[];
}

export type Part = TextPart | RefusalPart | ImagePart | FilePart | AudioPart | VideoPart;

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /** True where the client wants the prompt up to here to be cached. */
  readonly isBreakpoint?: true | undefined;
}

/** The assistant's refusal, in place of an answer. */
export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ImagePart {
  readonly type: 'image';
  readonly source: Source;
  readonly detail: string | undefined;
}

/** A document: PDF, text. */
export interface FilePart {
  readonly type: 'file';
  readonly source: Source;
  readonly name: string | undefined;
}

export interface VideoPart {
  readonly type: 'video';
  readonly source: Source;
}

export interface AudioPart {
  readonly type: 'audio';
  readonly data: string; // base64
  readonly format: string; // wav, mp3
}

export type Source =
  | MediaSource
  /** A file that was uploaded to the vendor of a format; others cannot read it. */
  | { readonly type: 'id'; readonly id: string; readonly vendor: FileVendor };

/** Whose files a request refers to: both of OpenAI's formats know the same. */
export type FileVendor = 'openai' | 'anthropic' | 'google';

/** Media that anyone can read. */
export type MediaSource =
  | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string };

/** A model's reasoning, as returned by the client. */
export interface Reasoning {
  readonly type: 'reasoning';
  /** Visible text, several parts joined by a blank line; may be empty. */
  readonly text: string;
  /** The vendor's opaque form of it; undefined when it has no tag of ours and its origin is unknown. */
  readonly state: OpaqueState | undefined;
}

/** Opaque reasoning state: signature, encrypted content, thought signature. Only the upstream that made it can use it. */
export interface OpaqueState {
  readonly kind: StateKind;
  /** Of the upstream that made it, see opaque-state.ts. */
  readonly origin: string;
  /** Exactly as that upstream wrote it. */
  readonly data: string;
}

/**
 * - `signature`, `redacted`: of Messages; the latter has no visible text
 * - `encrypted`: of Responses, `ITEM_ID:ENCRYPTED_CONTENT`
 * - `thought`: of Gemini
 * - `none`: the upstream has no such state; the tag only names the origin of the text
 */
export type StateKind = 'signature' | 'redacted' | 'encrypted' | 'thought' | 'none';

export interface ToolCall {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly form: ToolForm;
  /** JSON text of an object for functions and searches, possibly malformed; raw text for freeform tools. */
  readonly input: string;
}

export interface ToolResult {
  readonly type: 'tool_result';
  /** Id of its call. */
  readonly id: string;
  readonly parts: readonly Part[]; // may be empty
  readonly isError: boolean;
}

/**
 * - `function`: takes a JSON object
 * - `freeform`: takes raw text
 * - `tool_search`: a function by which the client loads more tools (Codex)
 */
export type ToolForm = 'function' | 'freeform' | 'tool_search';

export interface ClientTool {
  readonly form: ToolForm;
  readonly name: string;
  /** The group of the tool; its calls must carry it too. */
  readonly namespace: string | undefined;
  readonly description: string | undefined;
  /** JSON Schema of the input; undefined when it takes nothing, or is freeform. */
  readonly schema: JsonObject | undefined;
  readonly strict: Strictness | undefined;
  /** The grammar of a freeform input. */
  readonly grammar: { readonly syntax: string; readonly definition: string } | undefined;
  /** The client wants the prompt up to here to be cached. */
  readonly isBreakpoint?: true;
}

/** A tool that the vendor runs itself. */
export interface HostedTool {
  readonly form: 'web_search';
  readonly options?: SearchOptions;
}

/** Limits of a search. No vendor has all of them. */
export interface SearchOptions {
  readonly contextSize?: string | undefined;
  readonly maxUses?: number | undefined;
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
  readonly place?: SearchPlace | undefined;
}

/** Where the user is: city, country, region and time zone, as far as they are known. */
export type SearchPlace = Readonly<Record<string, string>>;

export type Tool = ClientTool | HostedTool;

export interface ToolChoice {
  /** `required`: some call; `tool`: that of `name`. */
  readonly type: 'auto' | 'required' | 'none' | 'tool';
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** Only these may be called. */
  readonly allowed?: readonly string[] | undefined;
}

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export interface ReasoningRequest {
  readonly effort: Effort | undefined;
  readonly budget: number | undefined; // tokens for thinking
  /** False when the client does not want the text. */
  readonly wantsText: boolean;
}

export type OutputFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string | undefined;
      readonly description: string | undefined;
      readonly schema: JsonObject;
      readonly strict: Strictness | undefined;
    };

/**
 * Whether a schema is enforced: as the client says in a format that lets it choose, or `fitting`: the client's format always
 * enforces it, so another one does where its vendor's rules allow it.
 */
export type Strictness = boolean | 'fitting';

/** Ranges are those of Chat Completions. */
export interface Sampling {
  readonly temperature?: number | undefined; // 0 to 2
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly seed?: number | undefined;
}
