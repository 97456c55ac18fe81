import type { Profile } from '#core/config/catalog/profile.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isFilled, isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyDecoder, SkimmedContent } from '../../../canonical/codec.ts';
import { RepeatedEvent } from '../../../canonical/repeated-event.ts';
import {
  type Citation,
  droppedAudio,
  createDroppedPart,
  createErrorFragment,
  type Fragment,
  isContent,
  toModelFragments,
  selectOnlyDelta,
  progress,
  readFailure,
  toTextFragments,
  toTierFragments,
  toUsageFragments,
} from '../../../canonical/reply.ts';
import { addDelta } from '../../../content/content-digest.ts';
import type { ChatChoice, ChatLogprobs, ChatMessage, ChatReply } from '../../../wire/chat.ts';
import { asList, asText, readMember, parseEventData } from '../../../wire/members.ts';
import type { CallPiece } from './call-tracker.ts';
import { type ChoiceUpdate, ChoiceTracker } from './choice-tracker.ts';
import { readCleanChoice } from './clean-reply.ts';
import {
  classifyMissingFinish,
  createMissingFinishError,
  noteFinish,
  readAbort,
  readFinish,
  readUsage,
} from './finish.ts';
import { addRefusedChoice } from './prompt-filter.ts';
import { hasSources, readSources } from './read-reply.ts';

/** Chunks that end the choice or report an error, and so must be parsed. */
const endPattern = /"finish_reason"\s*:\s*"[^"]|"error"\s*:|"base_resp"\s*:/;
const usagePattern = /"usage"\s*:\s*\{/;
const noFragments: readonly Fragment[] = [];

/**
 * Reads a Chat Completions reply and tolerates the deviations of all vendors. If there are several choices, reads the content of the first
 * and only the progress of the others. Source: OpenAI API reference, "The chat completion object" and "The chat completion chunk object".
 */
export class ChatDecoder implements ReplyDecoder {
  /** Lazy: most non-streaming replies do not need it. */
  #choiceTracker: ChoiceTracker | undefined;
  #choiceIndex: JsonValue | undefined;
  readonly #profile: Profile | undefined;
  #hasFinished = false;
  #tier: JsonValue | undefined;
  #hasModel = false;
  /** Sources listed outside the message, by URL; emitted when the choice ends. */
  readonly #sources = new Map<string, Citation>();
  readonly #cited = new Set<string>();
  readonly #repeatedEvent = new RepeatedEvent();
  #repeatsReasoning = false;

  constructor(profile?: Profile) {
    this.#profile = profile;
  }

  get #tracker(): ChoiceTracker {
    return (this.#choiceTracker ??= new ChoiceTracker({ inlineThinking: this.#hasInlineThinking }));
  }

  get #hasInlineThinking(): boolean {
    return this.#profile?.quirks.inline_thinking === true;
  }

  readEvent(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    const text = this.#tracker.isPlain ? this.#repeatedEvent.read(name, data) : undefined;
    if (text !== undefined && this.#appendRepeated(text)) {
      return toTextFragments(this.#repeatsReasoning ? 'reasoning' : 'text', text);
    }
    const fragments = this.#readChunk(name, data, event);
    // A caller that passes a parsed event skims later events, so nothing needs to be learned from this one.
    if (event === undefined) this.#learnEvent(name, data, fragments);
    return fragments;
  }

  #appendRepeated(text: string): boolean {
    return this.#repeatsReasoning
      ? this.#tracker.tryAppendPlainDelta('', text)
      : this.#tracker.tryAppendPlainDelta(text, '');
  }

  #learnEvent(name: string | undefined, data: string, fragments: readonly Fragment[]): void {
    const delta = this.#sources.size === 0 ? selectOnlyDelta(fragments) : undefined;
    const text = delta?.type === 'input' ? undefined : delta?.text;
    this.#repeatsReasoning = delta?.type === 'reasoning';
    this.#repeatedEvent.learn(name, data, text, this.#repeatsReasoning ? readReasoning : readText);
  }

  skimEvent(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined {
    const { name, data = '', isLong, contentDelta } = event;
    // An event that is not a chunk may be an error.
    if (isLong || name === 'error' || !data.includes('"choices"') || endPattern.test(data)) return undefined;
    if (content !== undefined && contentDelta === undefined) return undefined;
    if (content !== undefined && contentDelta !== undefined) addDelta(content, contentDelta);
    // Some servers report usage in every chunk.
    return usagePattern.test(data) ? toUsageFragments(readUsage(event.parse() ?? {})) : [];
  }

  #readChunk(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    const json = data.replace(/^\uFEFF/, '').trim();
    if (json === '[DONE]') return [...this.#finishContent(), this.#createEndFragment()];
    const chunk: ChatReply | undefined = parseEventData(json, event);
    if (chunk === undefined) return name === 'error' ? [createErrorFragment({ message: json })] : [];
    if (name === 'error') return [createErrorFragment(isJsonObject(chunk.error) ? chunk.error : chunk)];
    const error = readFailure(chunk);
    if (error !== undefined) return [{ type: 'error', error }];
    const { choices } = addRefusedChoice(chunk, 'delta');
    const choice = this.#pickChoice(choices);
    this.#collectSources(chunk, choice);
    const content = choice === undefined ? [] : this.#readChoice(choice);
    const fragments = [...content, ...readOtherChoices(choices, choice), ...readModeration(chunk)];
    if (this.#hasFinished) noteFinish(this.#profile);
    return [...toUsageFragments(readUsage(chunk)), ...this.#readModelAndTier(chunk), ...fragments];
  }

  readWhole(body: ChatReply): Fragment[] {
    const error = readFailure(body);
    if (error !== undefined) return [{ type: 'error', error }];
    const simpleFragments = this.#hasInlineThinking ? undefined : readTextOnlyReply(body);
    if (simpleFragments !== undefined)
      return [...toUsageFragments(readUsage(body)), ...this.#readModelAndTier(body), ...simpleFragments];
    const { choices } = addRefusedChoice(body, 'message');
    const choice = this.#pickChoice(choices);
    // Only the message is reported, because a stray `code` does not mean that the request was rejected.
    if (choice === undefined)
      return [createErrorFragment({ message: asText(readMember(body, 'message')) || 'an answer without choices' })];
    this.#collectSources(body, choice);
    const fragments = [
      ...toUsageFragments(readUsage(body)),
      ...this.#readModelAndTier(body),
      ...this.#readChoice(choice),
      ...readOtherChoices(choices, choice),
      ...readModeration(body),
      ...this.#finishContent(),
    ];
    return fragments.some(({ type }) => type === 'error') ? fragments : [...fragments, { type: 'end' }];
  }

  #collectSources(reply: ChatReply, choice: ChatChoice | undefined): void {
    const message = [choice?.delta, choice?.message].find(isJsonObject) ?? {};
    // Some vendors repeat their sources in every chunk.
    for (const source of readSources(reply, message)) this.#sources.set(source.url, source);
  }

  #takeUncitedSources(): readonly Fragment[] {
    if (this.#sources.size === 0) return noFragments;
    const sources = [...this.#sources.values()].filter(({ url }) => !this.#cited.has(url));
    for (const { url } of sources) this.#cited.add(url);
    return sources.map((citation) => ({ type: 'citation', citation }));
  }

  #readModelAndTier({ model, service_tier: tier }: ChatReply): readonly Fragment[] {
    // Every chunk repeats both.
    if (tier === this.#tier && this.#hasModel) return noFragments;
    const modelFragments = this.#hasModel ? noFragments : toModelFragments(model);
    this.#hasModel ||= modelFragments.length > 0;
    if (tier === this.#tier) return modelFragments;
    this.#tier = tier;
    return [...modelFragments, ...toTierFragments(tier)];
  }

  #pickChoice(choices: JsonValue | undefined): ChatChoice | undefined {
    const list: readonly ChatChoice[] = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
    // The choice that arrives first is decoded, regardless of its index.
    this.#choiceIndex ??= list[0]?.index ?? undefined;
    return list.find(({ index }) => typeof index !== 'number' || index === this.#choiceIndex);
  }

  #readChoice(choice: ChatChoice): Fragment[] {
    const { delta, message } = choice;
    const failure = readFailure(choice);
    if (failure !== undefined) return [{ type: 'error', error: failure }];
    const content: Fragment[] = [
      ...attachLogprobs(choice.logprobs, [
        ...(isJsonObject(delta) ? toFragments(this.#tracker.applyDelta(delta)) : noFragments),
        ...(isJsonObject(message) ? toFragments(this.#tracker.applyMessage(message)) : noFragments),
      ]),
      ...readDroppedParts(delta),
      ...readDroppedParts(message),
    ];
    // A message after deltas usually repeats them, so it is not progress.
    const hasProgressed = hasContentMember(delta) || (this.#tracker.isEmpty && hasContentMember(message));
    const fragments = hasProgressed && !content.some(isContent) ? [...content, progress] : content;
    for (const fragment of fragments) if (fragment.type === 'citation') this.#cited.add(fragment.citation.url);
    const error = readAbort(choice);
    if (error !== undefined) return [...fragments, { type: 'error', error }];
    const finish = readFinish(choice);
    if (finish === undefined || finish === 'failed') return fragments;
    this.#hasFinished = true;
    return [...fragments, ...this.#finishContent(), finish];
  }

  #createEndFragment(): Fragment {
    const ending = this.#hasFinished ? 'whole' : classifyMissingFinish(this.#profile);
    // An empty reply gets an error of its own later.
    if (ending === 'cut' && !this.#tracker.isEmpty) return { type: 'error', error: createMissingFinishError() };
    return ending === 'whole' ? { type: 'end' } : { type: 'end', isUnfinished: true };
  }

  #finishContent(): readonly Fragment[] {
    const { reasoning, text, calls } = this.#tracker.finish();
    return [
      ...toTextFragments('reasoning', reasoning),
      ...toTextFragments('text', text),
      ...calls.flatMap(toCallFragments),
      ...this.#takeUncitedSources(),
    ];
  }
}

function readTextOnlyReply(body: ChatReply): readonly Fragment[] | undefined {
  const choice = readCleanChoice(body);
  if (choice === undefined || choice.logprobs || hasSources(body) || isJsonObject(body.moderation)) return undefined;
  const { content, annotations } = choice.message as ChatMessage;
  if (isFilled(annotations) || readFailure(choice) !== undefined) return undefined;
  const finish = readFinish(choice);
  if (finish === undefined || finish === 'failed') return undefined;
  return [{ type: 'text', text: asText(content) }, finish, { type: 'end' }];
}

function readOtherChoices(choices: JsonValue | undefined, decodedChoice: ChatChoice | undefined): readonly Fragment[] {
  if (Array.isArray(choices) && choices.length === 1 && choices[0] === decodedChoice) return noFragments;
  const allChoices: readonly ChatChoice[] = asList(choices).filter(isJsonObject);
  return allChoices.flatMap((choice): Fragment[] => {
    if (choice === decodedChoice) return [];
    const ending = readFinish(choice);
    const finish = ending === 'failed' ? undefined : ending?.reason;
    const other: Fragment = { type: 'other', answer: choice.index ?? null, finish, error: readAbort(choice) };
    return hasContentMember(choice.delta) || hasContentMember(choice.message) ? [progress, other] : [other];
  });
}

function hasContentMember(message: JsonValue | undefined): boolean {
  if (!isJsonObject(message)) return false;
  return Object.entries(message).some(([name, value]) => name !== 'role' && isFilled(value));
}

function readText(chunk: ChatReply): JsonValue | undefined {
  return readSingleDelta(chunk)?.content;
}

function readReasoning(chunk: ChatReply): JsonValue | undefined {
  const { reasoning_content, reasoning }: ChatMessage = readSingleDelta(chunk) ?? {};
  return asText(reasoning_content) === '' ? reasoning : reasoning_content;
}

function readSingleDelta({ choices }: ChatReply): ChatMessage | undefined {
  const [choice, ...others]: readonly JsonValue[] = asList(choices);
  if (others.length > 0 || readMember<ChatChoice>(choice, 'message') !== undefined) return undefined;
  const delta = readMember<ChatChoice>(choice, 'delta');
  return isJsonObject(delta) ? delta : undefined;
}

/** Log probabilities of reasoning, calls and refusals, and those in older forms, are noted as lost: other formats cannot express them. */
function attachLogprobs(received: JsonValue | undefined, fragments: readonly Fragment[]): readonly Fragment[] {
  if (!isJsonObject(received)) return fragments;
  const { content, refusal }: ChatLogprobs = received;
  const logprobs = asList(content).filter(isJsonObject);
  const hasOthers = asList(refusal).length > 0 || !('content' in received);
  const droppedParts: Fragment[] = hasOthers ? [createDroppedPart('logprobs', '')] : [];
  if (logprobs.length === 0) return [...droppedParts, ...fragments];
  if (fragments.length === 0) return [...droppedParts, { type: 'text', text: '', logprobs }];
  const textIndex = fragments.findIndex(({ type }) => type === 'text');
  const text = fragments[textIndex];
  if (text?.type !== 'text') return [createDroppedPart('logprobs', ''), ...fragments];
  return [...droppedParts, ...fragments.with(textIndex, { ...text, logprobs })];
}

function readDroppedParts(message: JsonValue | undefined): readonly Fragment[] {
  const hasAudio = isFilled(readMember<ChatMessage>(message, 'audio'));
  const hasRunTools = Array.isArray(readMember<ChatMessage>(message, 'executed_tools'));
  if (!hasAudio && !hasRunTools) return noFragments;
  return [...(hasAudio ? [droppedAudio] : []), ...(hasRunTools ? [createDroppedPart('executed_tools', '')] : [])];
}

function readModeration({ moderation }: ChatReply): Fragment[] {
  // Other formats cannot express moderation results.
  return isJsonObject(moderation) ? [createDroppedPart('moderation', '')] : [];
}

function toFragments({ reasoning, text, refusal, citations, images, calls }: ChoiceUpdate): Fragment[] {
  return [
    ...toTextFragments('reasoning', reasoning),
    ...toTextFragments('text', text),
    ...toTextFragments('refusal', refusal),
    ...citations.map((citation) => ({ type: 'citation', citation }) as const),
    ...images.map((source) => ({ type: 'image', source }) as const),
    ...calls.flatMap(toCallFragments),
  ];
}

function toCallFragments(piece: CallPiece): Fragment[] {
  const { call, isCustom, isFirst, isWhole, isSeparate, id, name, input } = piece;
  const { key } = call;
  const namesCall = isFirst || id !== undefined || name !== undefined;
  const marks = { ...(isCustom && { form: 'freeform' as const }), ...(isSeparate && { isParallel: isSeparate }) };
  return [
    ...(namesCall ? [{ type: 'call', key, id, name, ...marks } as const] : []),
    ...(input === '' ? [] : [{ type: 'input', key, text: input } as const]),
    ...(isWhole ? [{ type: 'call_end', key } as const] : []),
  ];
}
