import type { Profile } from '#core/config/catalog/profile.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { mayHoldLongNumbers } from '#core/gateway/model-call/exact-json.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import { Notes } from '../../../canonical/notes.ts';
import { readFailure, truncatedCall } from '../../../canonical/reply.ts';
import { withoutOtherTier } from '../../../canonical/service-tier.ts';
import { asList, asText, parseBody, sameOr } from '../../../wire/members.ts';
import { type ReplyRepair, withData, withoutEmptyError } from '../../contract/pass-through.ts';
import { endingWithoutFinish, missingFinish, noteFinish, readAbort } from '../reply/finish.ts';
import { answerRefusedPrompt } from '../reply/prompt-filter.ts';
import { choicesOf } from '../reply/read-reply.ts';
import { usesDeprecatedCalls } from '../reply/reply-object.ts';
import { isSingleAnswer } from '../request/parameters.ts';
import { ChoiceRepair } from './choice-repair.ts';
import { cleanChoice, hasHead } from '../reply/clean-reply.ts';
import { CleanChunks } from './clean-reply.ts';
import type { ChatChoice, ChatReply } from '../../../wire/chat.ts';

/** Maximum number of repaired choices per reply; the rest pass unchanged. OpenAI allows 128. */
const mostChoices = 128;
const nothing = { text: '', reasoning: '' };

/**
 * Repairs Chat Completions replies of all vendors for clients that expect the format that OpenAI publishes. Sources: those of
 * the decoder; client requirements: the stream helper of the openai SDK, Vercel's AI SDK.
 */
export class ChatReplyRepair implements ReplyRepair {
  failure: GatewayError | undefined;
  readonly #context: ReplyContext;
  readonly #profile: Profile;
  readonly #notes = new Notes();
  readonly #inlineThinking: boolean;
  readonly #request: JsonObject;
  readonly #isSingle: boolean;
  readonly #choices = new Map<number, ChoiceRepair>();
  readonly #clean: CleanChunks;
  /** True for OpenAI itself, whose new tiers clients may know. */
  readonly #keepsTiers: boolean;
  /** The last chunk, whose head is copied into added chunks. */
  #last: StreamEvent | undefined;
  /** The `id` member as the chunks write it; undefined while chunks must be parsed. */
  #cleanId: string | undefined;
  #id = '';
  #hasFailed = false;

  constructor(context: ReplyContext, profile: Profile) {
    this.#context = context;
    this.#profile = profile;
    this.#inlineThinking = profile.quirks.inline_thinking;
    this.#keepsTiers = profile.quirks.betas;
    this.#clean = new CleanChunks(this.#keepsTiers);
    this.#request = context.outline ?? context.request;
    this.#isSingle = isSingleAnswer(this.#request);
  }

  get notes(): readonly string[] {
    return this.#notes.entries;
  }

  event(event: StreamEvent): readonly StreamEvent[] {
    const { data } = event;
    if (data === undefined || this.#hasFailed) return [event];
    if (data.length < 16 && data.trim() === '[DONE]') return [...this.#end(), event];
    if (this.#takeClean(event, data)) {
      this.#last = event;
      return [event];
    }
    const chunk = mayHoldLongNumbers(data) ? parseBody(data) : event.parse();
    if (chunk === undefined) return [event];
    this.#hasFailed = event.name === 'error' || isFailure(chunk);
    if (this.#hasFailed) return [event];
    this.#last = event;
    const repaired = this.#chunk(answerRefusedPrompt(withoutEmptyError(chunk), 'delta'));
    this.#learn(data, chunk, repaired);
    return [repaired === chunk ? event : withData(event, repaired)];
  }

  whole(body: JsonObject, given: string): JsonObject {
    const isClean = cleanChoice(body) !== undefined && this.#tiered(body) === body && body['error'] === undefined;
    if (!this.#inlineThinking && isClean) return body;
    // Numbers in inputs that are objects must keep all digits.
    const exact = mayHoldLongNumbers(given) ? (parseBody(given) ?? body) : body;
    if (isFailure(exact)) return body;
    const answered = answerRefusedPrompt(withoutEmptyError(exact), 'message');
    const { choices } = answered;
    if (!Array.isArray(choices)) return body;
    const repaired = choices.map((choice, position) => {
      if (!isJsonObject(choice)) return choice;
      return this.#choice(indexOf(choice) ?? position, true)?.whole(choice) ?? choice;
    });
    const headed = this.#headed(answered, sameOr(choices, repaired), 'chat.completion');
    return headed === exact ? body : headed;
  }

  #takeClean(event: StreamEvent, data: string): boolean {
    const choice = this.#choices.get(0);
    if (event.isLong || this.#cleanId === undefined || choice?.isPlain !== true || !data.includes(this.#cleanId))
      return false;
    const clean = this.#clean.read(data);
    if (clean === undefined) return false;
    const isTaken =
      clean.type === 'text' ? choice.plain(clean.text, clean.reasoning) : choice.plainInput(clean.index, clean.input);
    if (isTaken)
      event.said = clean.type === 'text' ? clean : { ...nothing, input: { key: clean.index, text: clean.input } };
    event.isPlain = isTaken && clean.isPlain && event.name === undefined;
    return isTaken;
  }

  /** If the first chunk with an answer has all required members, later chunks with its id need not be parsed. */
  #learn(data: string, chunk: ChatReply, repaired: ChatReply): void {
    if (this.#cleanId !== undefined || !this.#isSingle || !isChunk(chunk)) return;
    if (choicesOf(repaired)[0] === undefined || choicesOf(chunk)[0]?.index !== 0) return;
    const id = `"id":${JSON.stringify(chunk.id)}`;
    if (data.includes(id)) this.#cleanId = id;
  }

  #chunk(chunk: JsonObject): JsonObject {
    const { choices }: ChatReply = chunk;
    const repaired = asList(choices).map((choice, position) => {
      if (!isJsonObject(choice)) return choice;
      const known = this.#choice(indexOf(choice) ?? position, false);
      const own = known?.chunk(choice) ?? choice;
      if (known?.isFinished === true) noteFinish(this.#profile);
      return own;
    });
    return this.#headed(chunk, sameOr(choices, repaired.filter(isJsonObject)), 'chat.completion.chunk');
  }

  #choice(index: number, isWhole: boolean): ChoiceRepair | undefined {
    const known = this.#choices.get(index);
    if (known !== undefined || this.#choices.size >= mostChoices) return known;
    const choice = new ChoiceRepair({
      id: `call_${this.#context.id}`,
      index,
      isWhole,
      isOld: usesDeprecatedCalls(this.#request),
      inlineThinking: this.#inlineThinking,
    });
    this.#choices.set(index, choice);
    return choice;
  }

  #headed(given: ChatReply, choices: JsonValue, object: string): ChatReply {
    const body = this.#tiered(given);
    const isEmpty = Array.isArray(choices) && choices.length === 0 && !isJsonObject(body.usage);
    // Azure's first chunk has no answer and an empty head.
    const isExempt = isEmpty && typeof body.id === 'string';
    const { id, created, model } = this.#context;
    this.#id = asText(body.id) || this.#id || `chatcmpl-${id}`;
    const head: ChatReply = {
      ...(!isExempt && asText(body.id) === '' && { id: this.#id }),
      ...(!isExempt && body.object !== object && { object }),
      ...(typeof body.created !== 'number' && { created }),
      ...(typeof body.model !== 'string' && { model }),
    };
    if (Object.keys(head).length === 0 && choices === body.choices) return body;
    return { ...body, ...head, choices };
  }

  #tiered(body: ChatReply): ChatReply {
    return this.#keepsTiers ? body : withoutOtherTier(body);
  }

  /** The chunks to add before [DONE] if the upstream left out finish reasons. */
  #end(): readonly StreamEvent[] {
    const open = [...this.#choices.values()].filter((choice) => !choice.isFinished);
    if (open.length === 0 || ![...this.#choices.values()].some(({ hasContent }) => hasContent)) return [];
    if (open.some(({ isTorn }) => isTorn)) {
      this.failure = truncatedCall();
      return [];
    }
    const ending = endingWithoutFinish(this.#profile);
    if (ending === 'cut') this.failure = missingFinish();
    if (ending === 'unknown') this.#notes.miss('finish reason');
    const last = this.#last;
    if (last === undefined || ending === 'cut') return [];
    const choices = open.map((choice) => choice.end(ending === 'whole'));
    if (ending === 'unknown' && choices.every(isEmptyChoice)) return [];
    const { usage, ...members } = parseBody(last.data ?? '') ?? {};
    const kept = usage === null ? { ...members, usage } : members;
    return [withData(last, this.#headed({ ...kept, choices }, choices, 'chat.completion.chunk'))];
  }
}

function isEmptyChoice({ delta }: ChatChoice): boolean {
  return isJsonObject(delta) && Object.keys(delta).length === 0;
}

/** True if the vendor reports a failure of the whole reply or of one of its answers. */
function isFailure(body: ChatReply): boolean {
  return readFailure(body) !== undefined || choicesOf(body).some((choice) => readAbort(choice) !== undefined);
}

function indexOf({ index }: ChatChoice): number | undefined {
  return typeof index === 'number' ? index : undefined;
}

function isChunk(body: ChatReply): boolean {
  return body.object === 'chat.completion.chunk' && hasHead(body);
}
