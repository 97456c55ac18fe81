import { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readRefusal, readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import type { MediaSource, StateKind, ToolForm } from './conversation.ts';
import { openaiTiers } from './service-tier.ts';

/**
 * A piece of an upstream's answer. Decoders emit fragments in the order of arrival; the grammar guard takes care of
 * open blocks, interleaved calls and repeated endings.
 */
export type Fragment =
  /** The next piece of the answer. Its text is empty for a token that is a part of a character. */
  | { readonly type: 'text'; readonly text: string; readonly logprobs?: readonly Logprob[] | undefined }
  /** `isReason`: the vendor's reason for an empty answer, which does not stand in its content. */
  | { readonly type: 'refusal'; readonly text: string; readonly isReason?: true }
  | { readonly type: 'reasoning'; readonly text: string }
  /**
   * Closes the open reasoning with its state, or stands for reasoning that has no text. `isTrailing`: it belongs to the answer
   * before it.
   */
  | { readonly type: 'reasoning_state'; readonly kind: StateKind; readonly data: string; readonly isTrailing?: true }
  /** An image that the model has made, in one piece. */
  | { readonly type: 'image'; readonly source: MediaSource }
  /** Belongs to the text that is open. `isOfBlock`: all of it so far is what the source supports. */
  | { readonly type: 'citation'; readonly citation: Citation; readonly isOfBlock?: true }
  /** Closes the open block, unless it is a call. `isParagraph`: text behind it does not continue the text before. */
  | { readonly type: 'break'; readonly isParagraph?: true | undefined }
  /**
   * Names a call, which opens when id and name are known. `key` identifies a call in its reply. `isBeside`: it repeats no other one,
   * even with the same id.
   */
  | {
      readonly type: 'call';
      readonly key: string | number;
      readonly id?: string | undefined;
      readonly name?: string | undefined;
      readonly namespace?: string | undefined;
      readonly form?: ToolForm | undefined;
      readonly isBeside?: true | undefined;
    }
  /** The next piece of a call's input. */
  | { readonly type: 'input'; readonly key: string | number; readonly text: string }
  /** A call is complete. `input` is the whole input where the upstream repeats it; missing pieces are added. */
  | { readonly type: 'call_end'; readonly key: string | number; readonly input?: string | undefined }
  /**
   * A part of the answer that no reply format can express, in the words of `Notes.drop`: `images in the answer`. `isAnswer`:
   * without it there may be no answer.
   */
  | { readonly type: 'dropped'; readonly what: string; readonly isAnswer?: true }
  /** The reader holds this many characters that it has not passed on, such as the start of a signature. */
  | { readonly type: 'held'; readonly characters: number }
  /** Counts so far: later ones replace earlier ones, member by member. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** The tier that served, by the names of OpenAI: `default`, `priority`, `flex`. */
  | { readonly type: 'tier'; readonly tier: string }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly stopSequence?: string | undefined }
  /**
   * The answer progresses by something that no other fragment shows: a tool of the vendor at work, the name of a call, a member or an
   * event of the vendor's own.
   */
  | { readonly type: 'progress' }
  /** The vendor's id of the answer. */
  | { readonly type: 'id'; readonly id: string }
  /** The model that the vendor names, once. */
  | { readonly type: 'model'; readonly model: string }
  /** Another answer than the one that is read, by its index: it continues, has ended, or has failed. */
  | {
      readonly type: 'other';
      readonly answer: JsonValue;
      readonly finish?: FinishReason | undefined;
      readonly error?: GatewayError | undefined;
    }
  /** The last event of the format. */
  /** `isUnfinished`: the upstream gave no finish reason, and it is unknown whether it ever does. */
  | { readonly type: 'end'; readonly isUnfinished?: true }
  | { readonly type: 'error'; readonly error: GatewayError };

/** Fragments about a reply: they pass what holds its text back. */
const asides: ReadonlySet<Fragment['type']> = new Set([
  'held',
  'dropped',
  'usage',
  'tier',
  'progress',
  'id',
  'model',
  'other',
]);

export function isAside({ type }: Fragment): boolean {
  return asides.has(type);
}

/** Fragments that are visible to a client. */
const contents: ReadonlySet<Fragment['type']> = new Set([
  'text',
  'refusal',
  'reasoning',
  'image',
  'citation',
  'input',
  'finish',
  'progress',
]);

/** True for a piece of the answer itself: not for what is only announced, nor for encrypted reasoning, which comes before it. */
export function isContent(fragment: Fragment): boolean {
  if (fragment.type === 'reasoning_state') return fragment.kind !== 'encrypted';
  return contents.has(fragment.type) || (fragment.type === 'dropped' && fragment.isAnswer === true);
}

export const progress: Fragment = { type: 'progress' };

/** Characters that a block, a call or an item counts for, however small it is. */
export const perBlock = 256;

/** `pause`: the vendor's own tools need another request. */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'context_length'
  | 'tool_calls'
  | 'content_filter'
  | 'pause';

/** A token of the answer, as both formats of OpenAI describe it: `token`, `logprob`, `bytes`, `top_logprobs`. */
export type Logprob = JsonObject;

export interface Citation {
  readonly url: string;
  readonly title: string | undefined;
  /** A quotation from the source. */
  readonly quote: string | undefined;
  /** UTF-16 offsets in the text of its block. */
  readonly start: number | undefined;
  readonly end: number | undefined;
}

/**
 * A reply in order, for any input of the upstream: exactly one `start`; blocks one after the other with indexes 0, 1, 2…,
 * each opened, filled and closed before the next; exactly one `finish`. Encoders read it.
 */
export type ReplyEvent =
  | { readonly type: 'start'; readonly usage: Usage; readonly tier?: string | undefined }
  | { readonly type: 'block_start'; readonly index: number; readonly block: BlockHead }
  /** Never empty. */
  | {
      readonly type: 'block_delta';
      readonly index: number;
      readonly block: BlockHead;
      readonly text: string;
      readonly logprobs?: readonly Logprob[] | undefined;
    }
  | { readonly type: 'citation'; readonly index: number; readonly citation: Citation }
  | { readonly type: 'block_stop'; readonly index: number; readonly block: Block }
  | { readonly type: 'finish'; readonly reply: CompleteReply };

/** The part of a block that is known when it opens. */
export type BlockHead =
  | TextHead
  | { readonly type: 'refusal' }
  | { readonly type: 'reasoning' }
  | { readonly type: 'image' }
  | CallHead;

/** `isParagraph`: formats with one text put `paragraph` between it and the text before. */
export interface TextHead {
  readonly type: 'text';
  readonly isParagraph?: true;
}

export const paragraph = '\n\n';

export interface CallHead {
  readonly type: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly form: ToolForm;
}

export type Block =
  | (TextHead & {
      readonly text: string;
      readonly citations: readonly Citation[];
      readonly logprobs?: readonly Logprob[] | undefined;
    })
  | { readonly type: 'refusal'; readonly text: string }
  /** `state` is tagged, as the client gets it and sends it back. `isRedacted`: there is no text for it. */
  | { readonly type: 'reasoning'; readonly text: string; readonly state: string; readonly isRedacted: boolean }
  | ImageBlock
  /** `input`: JSON text of an object, `{}` when the model gave none; raw text for freeform calls. */
  | (CallHead & { readonly input: string });

/** Has no deltas: it ends as it begins. */
export interface ImageBlock {
  readonly type: 'image';
  readonly source: MediaSource;
}

export interface CompleteReply {
  readonly blocks: readonly Block[];
  readonly finish: FinishReason;
  readonly stopSequence: string | undefined;
  readonly usage: FullUsage;
  /** The tier that served, where the upstream has reported it. */
  readonly tier?: string | undefined;
}

/** All counts: those that the upstream has not reported are estimates. */
export interface FullUsage {
  readonly input: number; // all prompt tokens, cached ones included
  readonly output: number; // reasoning included
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
}

/** Sum of a block's deltas: its text, or the input of a call; nothing for an image. */
export function contentOf(block: Block): string {
  if (block.type === 'image') return '';
  return block.type === 'tool_call' ? block.input : block.text;
}

/** The error that a reply or an event reports; undefined when it reports none. */
export function readFailure(body: JsonObject): GatewayError | undefined;
/** @param isCertain when status or type mark it as an error, even without a message */
export function readFailure(body: JsonObject, isCertain: true): GatewayError;
export function readFailure(body: JsonObject, isCertain = false): GatewayError | undefined {
  const reported = isCertain ? readRefusal(body) : readReportedError(body);
  return reported && reportedFailure(reported);
}

/** The error that ends a reply. @param body what the upstream has sent in its place */
export function failed(body: JsonObject): Fragment {
  return { type: 'error', error: readFailure(body, true) };
}

/** Empty if the upstream has reported no counts. */
export function usageFragment(usage: Usage | undefined): Fragment[] {
  return usage === undefined ? [] : [{ type: 'usage', usage }];
}

/** Empty for anything but an id. */
export function idFragment(id: JsonValue | undefined): Fragment[] {
  return typeof id === 'string' ? [{ type: 'id', id }] : [];
}

/** Empty for anything but a name. */
export function modelFragment(model: JsonValue | undefined): Fragment[] {
  return typeof model === 'string' && model !== '' ? [{ type: 'model', model }] : [];
}

/** The tier that an upstream reports; empty for one of its own. Anthropic and Google call OpenAI's default one standard. */
export function tierFragment(reported: JsonValue | undefined): Fragment[] {
  if (typeof reported !== 'string' || reported === '' || reported.length > 32) return [];
  const word = reported.toLowerCase();
  const tier = word === 'standard' ? 'default' : word;
  return openaiTiers.has(tier) ? [{ type: 'tier', tier }] : [];
}

/** Empty for an empty text. */
export function textFragment(type: 'text' | 'reasoning' | 'refusal', text: string): Fragment[] {
  return text === '' ? [] : [{ type, text }];
}

/** The content decides, not only the reported reason: some vendors report `stop` for calls, and the reverse. */
export function resolveFinish(reported: FinishReason | undefined, hasCalls: boolean): FinishReason {
  if (hasCalls && (reported === undefined || reported === 'stop' || reported === 'stop_sequence')) return 'tool_calls';
  if (!hasCalls && reported === 'tool_calls') return 'stop';
  return reported ?? 'stop';
}

/** The failure of a reply that ends inside a tool call without a finish reason: a client might run half a command. */
export function truncatedCall(): GatewayError {
  return new GatewayError('upstream_failed', upstreamReason('upstream.reason.in_call'));
}

/** An answer, or a part of one, that is spoken. */
export const droppedAudio: Fragment = { type: 'dropped', what: 'audio in the answer', isAnswer: true };

const plainType = /^[a-z][a-z0-9_]{0,63}$/;

/**
 * Notes a part of an answer that no reply format can express.
 *
 * @param type the upstream's name for it; only a plain one is repeated, because notes travel in a header
 * @param otherwise the name to use instead of any other
 */
export function droppedPart(type: string, otherwise: string): Fragment {
  return { type: 'dropped', what: `${plainType.test(type) ? type : otherwise} in the answer` };
}
