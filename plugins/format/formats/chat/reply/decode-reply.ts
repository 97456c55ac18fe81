import type { Profile } from '#core/config/catalog/profile.ts';
import { isFilled, isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { takeSaid } from '../../../content/content-digest.ts';
import type { ReplyDecoder, SkimmedContent } from '../../../canonical/codec.ts';
import {
  type Citation,
  droppedAudio,
  droppedPart,
  failed,
  type Fragment,
  isContent,
  modelFragment,
  onlyDelta,
  progress,
  readFailure,
  textFragment,
  tierFragment,
  usageFragment,
} from '../../../canonical/reply.ts';
import { asList, asText, member, readEvent } from '../../../wire/members.ts';
import type { CallPiece } from './call-tracker.ts';
import { RepeatedEvent } from '../../../canonical/repeated-event.ts';
import { answerRefusedPrompt } from './prompt-filter.ts';
import { cleanChoice } from './clean-reply.ts';
import { hasSources, readSources } from './read-reply.ts';
import { type ChoiceUpdate, ChoiceTracker } from './choice-tracker.ts';
import { endingWithoutFinish, missingFinish, noteFinish, readAbort, readFinish, readUsage } from './finish.ts';
import type { ChatChoice, ChatLogprobs, ChatMessage, ChatReply } from '../../../wire/chat.ts';

/** Matches chunks that even a reader that skips the text must read: an ending or an error. */
const notable = /"finish_reason"\s*:\s*"[^"]|"error"\s*:|"base_resp"\s*:/;
const none: readonly Fragment[] = [];
/** Some servers report usage in each chunk. */
const counting = /"usage"\s*:\s*\{/;

/**
 * Reads a Chat Completions reply with the deviations of all vendors. If there are several answers, it reads the first. Source:
 * OpenAI API reference, "The chat completion object" and "The chat completion chunk object".
 */
export class ChatDecoder implements ReplyDecoder {
  /** Created on first use: most whole replies do not need it. */
  #choiceTracker: ChoiceTracker | undefined;
  #choice: JsonValue | undefined;

  readonly #profile: Profile | undefined;
  #hasFinished = false;
  #tier: JsonValue | undefined;
  #isNamed = false;
  /** Sources listed outside the answer, by URL; they are emitted when the answer ends. */
  readonly #sources = new Map<string, Citation>();
  readonly #cited = new Set<string>();
  readonly #repeated = new RepeatedEvent();
  /** True if the repeated event carries reasoning. */
  #isThought = false;

  constructor(profile?: Profile) {
    this.#profile = profile;
  }

  get #tracker(): ChoiceTracker {
    return (this.#choiceTracker ??= new ChoiceTracker({ inlineThinking: this.#hasInlineThinking }));
  }

  get #hasInlineThinking(): boolean {
    return this.#profile?.quirks.inline_thinking === true;
  }

  event(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    const text = this.#tracker.isPlain ? this.#repeated.read(name, data) : undefined;
    const isTaken =
      text !== undefined && (this.#isThought ? this.#tracker.plain('', text) : this.#tracker.plain(text, ''));
    if (isTaken) return textFragment(this.#isThought ? 'reasoning' : 'text', text);
    const fragments = this.#event(name, data, event);
    // A caller that passes the event skims later ones instead.
    if (event !== undefined) return fragments;
    const only = this.#sources.size === 0 ? onlyDelta(fragments) : undefined;
    const said = only?.type === 'input' ? undefined : only;
    this.#isThought = said?.type === 'reasoning';
    this.#repeated.learn(name, data, said?.text, this.#isThought ? thoughtOfChunk : textOfChunk);
    return fragments;
  }

  skim(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined {
    const { name, data = '', isLong, said } = event;
    // An event that is not a chunk may be an error.
    if (isLong || name === 'error' || !data.includes('"choices"') || notable.test(data)) return undefined;
    if (content !== undefined && said === undefined) return undefined;
    if (content !== undefined && said !== undefined) takeSaid(content, said);
    return counting.test(data) ? usageFragment(readUsage(event.parse() ?? {})) : [];
  }

  #event(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    const json = data.replace(/^\uFEFF/, '').trim();
    if (json === '[DONE]') return [...this.#rest(), this.#end()];
    const chunk: ChatReply | undefined = readEvent(json, event);
    if (chunk === undefined) return name === 'error' ? [failed({ message: json })] : [];
    if (name === 'error') return [failed(isJsonObject(chunk.error) ? chunk.error : chunk)];
    const error = readFailure(chunk);
    if (error !== undefined) return [{ type: 'error', error }];
    const { choices } = answerRefusedPrompt(chunk, 'delta');
    const choice = this.#pick(choices);
    this.#find(chunk, choice);
    const answer = choice === undefined ? [] : this.#answer(choice);
    const fragments = [...answer, ...readOthers(choices, choice), ...readModeration(chunk)];
    if (this.#hasFinished) noteFinish(this.#profile);
    return [...usageFragment(readUsage(chunk)), ...this.#served(chunk), ...fragments];
  }

  whole(body: ChatReply): Fragment[] {
    const error = readFailure(body);
    if (error !== undefined) return [{ type: 'error', error }];
    const simple = this.#hasInlineThinking ? undefined : readSimple(body);
    if (simple !== undefined) return [...usageFragment(readUsage(body)), ...this.#served(body), ...simple];
    const { choices } = answerRefusedPrompt(body, 'message');
    const choice = this.#pick(choices);
    // Only the message is passed on: a stray `code` does not mean that the request was rejected.
    if (choice === undefined)
      return [failed({ message: asText(member(body, 'message')) || 'an answer without choices' })];
    this.#find(body, choice);
    const counted = [...usageFragment(readUsage(body)), ...this.#served(body)];
    const answers = [...this.#answer(choice), ...readOthers(choices, choice)];
    const fragments = [...counted, ...answers, ...readModeration(body), ...this.#rest()];
    return fragments.some(({ type }) => type === 'error') ? fragments : [...fragments, { type: 'end' }];
  }

  /** Some vendors repeat all sources in every chunk. */
  #find(reply: ChatReply, choice: ChatChoice | undefined): void {
    const message = [choice?.delta, choice?.message].find(isJsonObject) ?? {};
    for (const source of readSources(reply, message)) this.#sources.set(source.url, source);
  }

  /** The sources that the text itself does not cite. */
  #uncited(): readonly Fragment[] {
    if (this.#sources.size === 0) return none;
    const sources = [...this.#sources.values()].filter(({ url }) => !this.#cited.has(url));
    for (const { url } of sources) this.#cited.add(url);
    return sources.map((citation) => ({ type: 'citation', citation }));
  }

  /** Every chunk repeats the model; OpenAI also repeats the tier. */
  #served({ model, service_tier: tier }: ChatReply): readonly Fragment[] {
    if (tier === this.#tier && this.#isNamed) return none;
    const named = this.#isNamed ? none : modelFragment(model);
    this.#isNamed ||= named.length > 0;
    if (tier === this.#tier) return named;
    this.#tier = tier;
    return [...named, ...tierFragment(tier)];
  }

  /** The first answer received, whatever its index is. */
  #pick(choices: JsonValue | undefined): ChatChoice | undefined {
    const list: readonly ChatChoice[] = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
    this.#choice ??= list[0]?.index ?? undefined;
    return list.find(({ index }) => typeof index !== 'number' || index === this.#choice);
  }

  #answer(choice: ChatChoice): Fragment[] {
    const { delta, message } = choice;
    const failure = readFailure(choice);
    if (failure !== undefined) return [{ type: 'error', error: failure }];
    const said: Fragment[] = [
      ...withTokens(choice.logprobs, [
        ...(isJsonObject(delta) ? fragmentsOf(this.#tracker.delta(delta)) : none),
        ...(isJsonObject(message) ? fragmentsOf(this.#tracker.message(message)) : none),
      ]),
      ...readDropped(delta),
      ...readDropped(message),
    ];
    // The message may just repeat the deltas.
    const isMore = carriesMore(delta) || (this.#tracker.isEmpty && carriesMore(message));
    const fragments = isMore && !said.some(isContent) ? [...said, progress] : said;
    for (const one of fragments) if (one.type === 'citation') this.#cited.add(one.citation.url);
    const error = readAbort(choice);
    if (error !== undefined) return [...fragments, { type: 'error', error }];
    const finish = readFinish(choice);
    if (finish === undefined || finish === 'failed') return fragments;
    this.#hasFinished = true;
    return [...fragments, ...this.#rest(), finish];
  }

  #end(): Fragment {
    const ending = this.#hasFinished ? 'whole' : endingWithoutFinish(this.#profile);
    // An empty answer is reported as such.
    if (ending === 'cut' && !this.#tracker.isEmpty) return { type: 'error', error: missingFinish() };
    return ending === 'whole' ? { type: 'end' } : { type: 'end', isUnfinished: true };
  }

  #rest(): readonly Fragment[] {
    const { reasoning, text, calls } = this.#tracker.finish();
    return [
      ...textFragment('reasoning', reasoning),
      ...textFragment('text', text),
      ...calls.flatMap(callFragments),
      ...this.#uncited(),
    ];
  }
}

/** Reads a reply that yields only a text and its end; returns undefined for any other reply. */
function readSimple(body: ChatReply): readonly Fragment[] | undefined {
  const choice = cleanChoice(body);
  if (choice === undefined || choice.logprobs || hasSources(body) || isJsonObject(body.moderation)) return undefined;
  const { content, annotations } = choice.message as ChatMessage;
  if (isFilled(annotations) || readFailure(choice) !== undefined) return undefined;
  const finish = readFinish(choice);
  if (finish === undefined || finish === 'failed') return undefined;
  return [{ type: 'text', text: asText(content) }, finish, { type: 'end' }];
}

/** Reads the state of the other answers: clients may have requested several. */
function readOthers(choices: JsonValue | undefined, own: ChatChoice | undefined): readonly Fragment[] {
  if (Array.isArray(choices) && choices.length === 1 && choices[0] === own) return none;
  const others: readonly ChatChoice[] = asList(choices).filter(isJsonObject);
  return others.flatMap((choice): Fragment[] => {
    if (choice === own) return [];
    const read = readFinish(choice);
    const finish = read === 'failed' ? undefined : read?.reason;
    const other: Fragment = { type: 'other', answer: choice.index ?? null, finish, error: readAbort(choice) };
    return carriesMore(choice.delta) || carriesMore(choice.message) ? [progress, other] : [other];
  });
}

function carriesMore(message: JsonValue | undefined): boolean {
  if (!isJsonObject(message)) return false;
  return Object.entries(message).some(([name, value]) => name !== 'role' && isFilled(value));
}

function textOfChunk(chunk: ChatReply): JsonValue | undefined {
  return deltaOf(chunk)?.content;
}

function thoughtOfChunk(chunk: ChatReply): JsonValue | undefined {
  const { reasoning_content: first, reasoning: second }: ChatMessage = deltaOf(chunk) ?? {};
  return asText(first) === '' ? second : first;
}

/** The delta of a chunk that has one answer and no message. */
function deltaOf({ choices }: ChatReply): ChatMessage | undefined {
  const [choice, ...others]: readonly JsonValue[] = asList(choices);
  if (others.length > 0 || member<ChatChoice>(choice, 'message') !== undefined) return undefined;
  const delta = member<ChatChoice>(choice, 'delta');
  return isJsonObject(delta) ? delta : undefined;
}

/** Attaches tokens to a text. Other formats cannot express tokens of reasoning, calls and refusals, or older token formats. */
function withTokens(given: JsonValue | undefined, fragments: readonly Fragment[]): readonly Fragment[] {
  if (!isJsonObject(given)) return fragments;
  const { content, refusal }: ChatLogprobs = given;
  const logprobs = asList(content).filter(isJsonObject);
  const isOther = asList(refusal).length > 0 || !('content' in given);
  const text = fragments.find(({ type }) => type === 'text');
  const lost: Fragment[] = isOther ? [droppedPart('logprobs', '')] : [];
  if (logprobs.length === 0) return [...lost, ...fragments];
  if (text?.type === 'text') return [...lost, ...fragments.map((one) => (one === text ? { ...text, logprobs } : one))];
  return fragments.length > 0
    ? [droppedPart('logprobs', ''), ...fragments]
    : [...lost, { type: 'text', text: '', logprobs }];
}

function readDropped(message: JsonValue | undefined): readonly Fragment[] {
  const hasAudio = isFilled(member<ChatMessage>(message, 'audio'));
  const hasRunTools = Array.isArray(member<ChatMessage>(message, 'executed_tools'));
  if (!hasAudio && !hasRunTools) return none;
  return [...(hasAudio ? [droppedAudio] : []), ...(hasRunTools ? [droppedPart('executed_tools', '')] : [])];
}

/** Notes the vendor's moderation of prompt and answer, which other formats cannot express. */
function readModeration({ moderation }: ChatReply): Fragment[] {
  return isJsonObject(moderation) ? [droppedPart('moderation', '')] : [];
}

function fragmentsOf({ reasoning, text, refusal, citations, images, calls }: ChoiceUpdate): Fragment[] {
  return [
    ...textFragment('reasoning', reasoning),
    ...textFragment('text', text),
    ...textFragment('refusal', refusal),
    ...citations.map((citation) => ({ type: 'citation', citation }) as const),
    ...images.map((source) => ({ type: 'image', source }) as const),
    ...calls.flatMap(callFragments),
  ];
}

function callFragments(piece: CallPiece): Fragment[] {
  const { call, isCustom, isFirst, isWhole, isBeside, id, name, input } = piece;
  const { key } = call;
  const isNews = isFirst || id !== undefined || name !== undefined;
  const marks = { ...(isCustom && { form: 'freeform' as const }), ...(isBeside && { isBeside }) };
  return [
    ...(isNews ? [{ type: 'call', key, id, name, ...marks } as const] : []),
    ...(input === '' ? [] : [{ type: 'input', key, text: input } as const]),
    ...(isWhole ? [{ type: 'call_end', key } as const] : []),
  ];
}
