import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { MediaSource } from '../../../canonical/conversation.ts';
import { isDataUrl, readDataUrl } from '../../../canonical/media.ts';
import type { Citation } from '../../../canonical/reply.ts';
import type {
  ChatAnnotation,
  ChatChoice,
  ChatCitation,
  ChatImage,
  ChatMessage,
  ChatPart,
  ChatReply,
  ChatSource,
} from '../../../wire/chat.ts';
import type { Editable } from '../../../wire/loose.ts';
import { asList, asText, asCount, readMember } from '../../../wire/members.ts';
import { readDetailText } from '../request/read-reasoning.ts';
import type { CallEntries } from './call-entry.ts';

export interface MessageContent {
  readonly reasoning: string;
  /** True if the reasoning is only in `reasoning_details`, where MiniMax repeats all of it in each chunk. */
  readonly isFromDetails: boolean;
  readonly text: string;
  readonly refusal: string;
  readonly citations: readonly Citation[];
  readonly images: readonly MediaSource[];
  readonly calls: CallEntries;
}

const noCitations: readonly Citation[] = [];

/**
 * Reads a message or a delta. Sources: OpenAI API reference, "The chat completion object"; DeepSeek
 * (`reasoning_content`), OpenRouter (`reasoning`, `reasoning_details`, `images`), Mistral (`thinking` parts).
 */
export function readMessage(message: ChatMessage): MessageContent {
  const { content } = message;
  const parts = Array.isArray(content) ? content : [];
  const plain = asText(message.reasoning_content) || asText(message.reasoning) || parts.map(readThinking).join('');
  const details = toList(message.reasoning_details).map(readDetailText).join('');
  return {
    reasoning: plain || details,
    isFromDetails: plain === '' && details !== '',
    text: asText(content) || parts.map(readText).join(''),
    refusal: asText(message.refusal) || parts.map((part) => asText(readMember<ChatPart>(part, 'refusal'))).join(''),
    citations: toList(message.annotations).flatMap(readCitation),
    images: [...parts, ...toList(message.images)].flatMap(readImage),
    calls: { entries: toList(message.tool_calls), deprecatedCall: readDeprecatedCall(message.function_call) },
  };
}

/** Skips values that are not objects. */
export function readChoices({ choices }: ChatReply): Editable<ChatChoice>[] {
  return asList(choices).filter(isJsonObject);
}

/** An object in place of a list is treated as a list with one entry. */
export function toList(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? [value] : [];
}

function readText(part: JsonValue): string {
  if (typeof part === 'string') return part;
  return readMember<ChatPart>(part, 'type') === 'thinking' ? '' : asText(readMember<ChatPart>(part, 'text'));
}

function readThinking(part: JsonValue): string {
  const thinking = readMember<ChatPart>(part, 'thinking');
  return asText(thinking) || toList(thinking).map(readText).join('');
}

function readDeprecatedCall(call: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(call) && isFilled(call) ? call : undefined;
}

function readImage(part: JsonValue): MediaSource[] {
  const image = readMember<ChatPart>(part, 'image_url');
  const url = asText(image) || asText(readMember<ChatImage>(image, 'url'));
  if (url === '') return [];
  if (!isDataUrl(url)) return [{ type: 'url', url }];
  const data = readDataUrl(url);
  return data === undefined ? [] : [{ type: 'base64', ...data }];
}

export function hasSources({ citations, search_results, web_search }: ChatReply): boolean {
  return (citations ?? search_results ?? web_search) !== undefined;
}

/**
 * Reads the sources listed outside a message's text, each URL once. xAI and Perplexity list URLs, Perplexity and Z.ai list search results,
 * and Groq lists the results of each of its tools.
 */
export function readSources(reply: ChatReply, message: ChatMessage): readonly Citation[] {
  // Most replies and chunks have no such sources.
  if (!hasSources(reply) && message.executed_tools === undefined) return noCitations;
  const { citations, search_results, web_search } = reply;
  const toolSources = toList(message.executed_tools).flatMap((tool) =>
    toList(readMember<ChatSource>(readMember<ChatSource>(tool, 'search_results'), 'results')),
  );
  const sources = new Map<string, Citation>();
  for (const source of [citations, search_results, web_search].flatMap(toList).concat(toolSources)) {
    const url =
      asText(source) || asText(readMember<ChatSource>(source, 'url')) || asText(readMember<ChatSource>(source, 'link'));
    const title = sources.get(url)?.title ?? (asText(readMember<ChatSource>(source, 'title')) || undefined);
    if (url !== '') sources.set(url, { url, title, quote: undefined, start: undefined, end: undefined });
  }
  return [...sources.values()];
}

function readCitation(annotation: JsonValue): Citation[] {
  const citation = readMember<ChatAnnotation>(annotation, 'url_citation') ?? annotation;
  const url = asText(readMember<ChatCitation>(citation, 'url'));
  if (url === '') return [];
  return [
    {
      url,
      title: asText(readMember<ChatCitation>(citation, 'title')) || undefined,
      quote: asText(readMember<ChatCitation>(citation, 'content')) || undefined,
      start: asCount(readMember<ChatCitation>(citation, 'start_index')),
      end: asCount(readMember<ChatCitation>(citation, 'end_index')),
    },
  ];
}
