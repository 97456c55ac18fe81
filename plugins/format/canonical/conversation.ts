import type { JsonObject } from '#core/platform/json.ts';

/**
 * A client's request in a vendor-neutral form that covers all text formats. Decoders create it, encoders read it.
 *
 * Invariants that decoders guarantee and encoders rely on:
 * - instructions precede the dialogue; a later system message stays in place, so that the prompt keeps its prefix from turn to turn and
 *   vendors' prompt caches get hits;
 * - no text part is empty, and every message has at least one part;
 * - after `normalizeCalls`, every call has exactly one result, and results follow their run of calls in the order of the calls.
 */
export interface Conversation extends Settings {
  readonly instructions: readonly string[];
  readonly items: readonly Item[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  readonly reasoning: ReasoningRequest | undefined;
  readonly output: OutputFormat | undefined;
  /** True if the cache key was derived from the user rather than sent by the client. */
  readonly isCacheKeyImplied?: boolean | undefined;
  /** True to cache the prompt up to the end of the instructions. */
  readonly areInstructionsCached?: true | undefined;
  /** Requested lifetime of the prompt cache, if longer than the default. */
  readonly cacheLifetime?: '1h' | undefined;
}

/** Each setting maps to one parameter, see formats/contract/parameters.ts. */
export interface Settings {
  // Sampling parameters, in the ranges of Chat Completions.
  readonly temperature?: number | undefined; // 0 to 2
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly seed?: number | undefined;
  /** False to allow only one call per turn. */
  readonly parallelToolCalls?: boolean | undefined;
  readonly maxOutputTokens?: number | undefined; // includes reasoning
  readonly stop: readonly string[];
  readonly verbosity?: string | undefined;
  readonly user?: string | undefined;
  /** OpenAI's `safety_identifier`; other vendors only have `user`. */
  readonly safetyId?: string | undefined;
  /** Requests with the same prompt prefix share this key. */
  readonly cacheKey?: string | undefined;
  /** OpenAI's retention of the prompt cache: `in_memory`, `24h`. */
  readonly cacheRetention?: string | undefined;
  readonly serviceTier?: string | undefined;
  /** True if the client also wants images; some models generate them only on request. */
  readonly wantsImages?: boolean | undefined;
  /** Number of alternatives per token; undefined if the client did not ask for log probabilities. */
  readonly topLogprobs?: number | undefined;
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
  /** True to cache the prompt up to this part. */
  readonly isBreakpoint?: true | undefined;
}

export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ImagePart {
  readonly type: 'image';
  readonly source: Source;
  readonly detail: string | undefined;
}

/** A document such as a PDF or a text file. */
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
  /** A file uploaded to a vendor; no other vendor can read it. */
  | { readonly type: 'id'; readonly id: string; readonly vendor: FileVendor };

/** OpenAI's two formats share files. */
export type FileVendor = 'openai' | 'anthropic' | 'google';

/** Media that any vendor can read. */
export type MediaSource =
  | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string };

/** The model's reasoning, as sent back by the client. */
export interface Reasoning {
  readonly type: 'reasoning';
  /** The visible parts, joined by blank lines; may be empty. */
  readonly text: string;
  /** The vendor's opaque state; undefined if it lacks the gateway's tag, because its origin is then unknown. */
  readonly state: OpaqueState | undefined;
}

/** Opaque reasoning state: signature, encrypted content or thought signature. Only the upstream that created it can use it. */
export interface OpaqueState {
  readonly kind: StateKind;
  /** Tag of the upstream that created the state, see opaque-state.ts. */
  readonly origin: string;
  /** Exactly as the upstream sent it. */
  readonly data: string;
}

/**
 * - `signature`, `redacted`: Messages; the latter has no visible text
 * - `encrypted`: Responses, `ITEM_ID:ENCRYPTED_CONTENT`
 * - `thought`: Gemini
 * - `none`: the upstream has no such state; the tag only names the origin of the text
 */
export type StateKind = 'signature' | 'redacted' | 'encrypted' | 'thought' | 'none';

export interface ToolCall {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly form: ToolForm;
  /** JSON of an object for functions and searches, possibly malformed; raw text for freeform tools. */
  readonly input: string;
}

export interface ToolResult {
  readonly type: 'tool_result';
  /** Id of the call. */
  readonly id: string;
  readonly parts: readonly Part[]; // may be empty
  readonly isError: boolean;
}

/**
 * - `function`: takes a JSON object
 * - `freeform`: takes raw text
 * - `tool_search`: a function that lets the client load more tools (Codex)
 */
export type ToolForm = 'function' | 'freeform' | 'tool_search';

export interface ClientTool {
  readonly form: ToolForm;
  readonly name: string;
  /** The tool's group. Calls to the tool must name the group too. */
  readonly namespace: string | undefined;
  readonly description: string | undefined;
  /** JSON Schema of the input; undefined for a freeform tool or one without input. */
  readonly schema: JsonObject | undefined;
  readonly strict: Strictness | undefined;
  readonly grammar: { readonly syntax: string; readonly definition: string } | undefined;
  /** True to cache the prompt up to this tool. */
  readonly isBreakpoint?: true;
}

/** A tool that the vendor runs itself. */
export interface HostedTool {
  readonly form: 'web_search';
  readonly options?: SearchOptions;
}

/** No vendor supports all of these. */
export interface SearchOptions {
  readonly contextSize?: string | undefined;
  readonly maxUses?: number | undefined;
  readonly allowedDomains?: readonly string[] | undefined;
  readonly blockedDomains?: readonly string[] | undefined;
  readonly location?: SearchLocation | undefined;
}

/** The user's city, country, region and time zone. Unknown members are omitted. */
export type SearchLocation = Readonly<Record<string, string>>;

export type Tool = ClientTool | HostedTool;

export interface ToolChoice {
  /** `required`: at least one call of any tool; `tool`: a call of the tool named `name`. */
  readonly type: 'auto' | 'required' | 'none' | 'tool';
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  /** Names of the tools that may be called; undefined if all may. */
  readonly allowed?: readonly string[] | undefined;
}

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof efforts)[number];

export interface ReasoningRequest {
  readonly effort: Effort | undefined;
  readonly budget: number | undefined; // tokens for thinking
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
 * Whether a schema is enforced. A boolean is the client's choice. `fitting` means that the client's format always enforces schemas; another
 * format then enforces the schema only if the schema follows the rules of that format's vendor.
 */
export type Strictness = boolean | 'fitting';
