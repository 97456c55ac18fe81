import type { Profile } from '#core/config/catalog/profile.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { mayContainLongNumbers } from '#core/gateway/model-call/exact-json.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyContext } from '../../../canonical/codec.ts';
import { Notes } from '../../../canonical/notes.ts';
import { readFailure, createTruncatedCallError } from '../../../canonical/reply.ts';
import { removeOtherTier } from '../../../canonical/service-tier.ts';
import type { ChatChoice, ChatReply } from '../../../wire/chat.ts';
import { asList, asText, parseBody, keepIfSame } from '../../../wire/members.ts';
import { type ReplyRepair, replaceEventData, replaceEventJson, removeEmptyError } from '../../contract/pass-through.ts';
import { readCleanChoice, hasRequiredMembers } from '../reply/clean-reply.ts';
import { classifyMissingFinish, createMissingFinishError, noteFinish, readAbort } from '../reply/finish.ts';
import { addRefusedChoice } from '../reply/prompt-filter.ts';
import { readChoices } from '../reply/read-reply.ts';
import { createReplyId, readCallForm } from '../reply/reply-object.ts';
import { isSingleChoice } from '../request/parameters.ts';
import { ChoiceRepair } from './choice-repair.ts';
import { CleanChunks, type HeadMember } from './clean-chunks.ts';

const maxChoices = 128; // OpenAI's maximum; further choices pass unchanged
const noText = { text: '', reasoning: '' };

/**
 * Repairs Chat Completions replies from any vendor for clients that expect the format that OpenAI publishes. Sources: see `ChatDecoder`;
 * client requirements: the stream helper of the openai SDK, Vercel's AI SDK.
 */
export class ChatReplyRepair implements ReplyRepair {
  failure: GatewayError | undefined;
  readonly #context: ReplyContext;
  readonly #profile: Profile;
  readonly #notes = new Notes();
  readonly #inlineThinking: boolean;
  readonly #request: JsonObject;
  readonly #isSingleChoice: boolean;
  readonly #choices = new Map<number, ChoiceRepair>();
  readonly #cleanChunks: CleanChunks;
  /** True for OpenAI itself, because clients may support its new tiers. */
  readonly #keepsTiers: boolean;
  /** Its head is copied to the chunks that the gateway adds. */
  #lastChunk: StreamEvent | undefined;
  /** JSON of the `id` member as the upstream writes it; undefined while chunks must be parsed. */
  #cleanId: string | undefined;
  #id = '';
  #hasFailed = false;

  constructor(context: ReplyContext, profile: Profile) {
    this.#context = context;
    this.#profile = profile;
    this.#inlineThinking = profile.quirks.inline_thinking;
    this.#keepsTiers = profile.quirks.betas;
    this.#cleanChunks = new CleanChunks(this.#keepsTiers);
    this.#request = context.outline ?? context.request;
    this.#isSingleChoice = isSingleChoice(this.#request);
  }

  get notes(): readonly string[] {
    return this.#notes.entries;
  }

  repairEvent(event: StreamEvent): readonly StreamEvent[] {
    const { data } = event;
    if (data === undefined || this.#hasFailed) return [event];
    if (data.length < 16 && data.trim() === '[DONE]') return [...this.#endStream(), event];
    const cleanChunk = this.#readCleanChunk(event, data);
    if (cleanChunk !== undefined) {
      this.#lastChunk = cleanChunk;
      return [cleanChunk];
    }
    const chunk = mayContainLongNumbers(data) ? parseBody(data) : event.parse();
    if (chunk === undefined) return [event];
    this.#hasFailed = event.name === 'error' || isFailure(chunk);
    if (this.#hasFailed) return [event];
    this.#lastChunk = event;
    const repairedChunk = this.#repairChunk(addRefusedChoice(removeEmptyError(chunk), 'delta'));
    this.#learnCleanId(data, chunk, repairedChunk);
    return [repairedChunk === chunk ? event : replaceEventData(event, repairedChunk)];
  }

  repairReply(body: JsonObject, text: string): JsonObject {
    const isClean =
      readCleanChoice(body) !== undefined && this.#removeOtherTier(body) === body && body['error'] === undefined;
    if (!this.#inlineThinking && isClean) return body;
    // Numbers must keep all digits, because an input may be an object.
    const exact = mayContainLongNumbers(text) ? (parseBody(text) ?? body) : body;
    if (isFailure(exact)) return body;
    const reply = addRefusedChoice(removeEmptyError(exact), 'message');
    const { choices } = reply;
    if (!Array.isArray(choices)) return body;
    const repairedChoices = choices.map((choice, position) => {
      if (!isJsonObject(choice)) return choice;
      return this.#getRepair(readIndex(choice) ?? position, true)?.repairWhole(choice) ?? choice;
    });
    const repairedReply = this.#fillHead(reply, keepIfSame(choices, repairedChoices), 'chat.completion');
    return repairedReply === exact ? body : repairedReply;
  }

  #readCleanChunk(event: StreamEvent, data: string): StreamEvent | undefined {
    const choice = this.#choices.get(0);
    if (event.isLong || this.#cleanId === undefined || choice?.isPlain !== true) return undefined;
    const clean = this.#cleanChunks.read(data, this.#cleanId);
    if (clean === undefined) return undefined;
    const isTaken =
      clean.type === 'text'
        ? choice.tryAppendPlainDelta(clean.text, clean.reasoning)
        : choice.tryAppendPlainInput(clean.index, clean.input);
    if (!isTaken) return undefined;
    // Strict clients, such as async-openai, fail if a required member is missing.
    const chunk = clean.missing.length === 0 ? event : this.#insertMembers(event, data, clean.missing);
    chunk.contentDelta = clean.type === 'text' ? clean : { ...noText, input: { key: clean.index, text: clean.input } };
    chunk.isPlain = clean.isPlain && event.name === undefined;
    return chunk;
  }

  #insertMembers(event: StreamEvent, data: string, names: readonly HeadMember[]): StreamEvent {
    const { created, model } = this.#context;
    const head = { object: 'chat.completion.chunk', created, model };
    const members = names.map((name) => `"${name}":${JSON.stringify(head[name])},`);
    return replaceEventJson(event, `{${members.join('')}${data.slice(1)}`);
  }

  #learnCleanId(data: string, chunk: ChatReply, repaired: ChatReply): void {
    if (this.#cleanId !== undefined || !this.#isSingleChoice || !isChunk(chunk)) return;
    if (readChoices(repaired)[0] === undefined || readChoices(chunk)[0]?.index !== 0) return;
    const id = `"id":${JSON.stringify(chunk.id)}`;
    if (data.includes(id)) this.#cleanId = id;
  }

  #repairChunk(chunk: JsonObject): JsonObject {
    const { choices }: ChatReply = chunk;
    const repairedChoices = asList(choices).map((choice, position) => {
      if (!isJsonObject(choice)) return choice;
      const repair = this.#getRepair(readIndex(choice) ?? position, false);
      const repairedChoice = repair?.repairChunk(choice) ?? choice;
      if (repair?.isFinished === true) noteFinish(this.#profile);
      return repairedChoice;
    });
    return this.#fillHead(chunk, keepIfSame(choices, repairedChoices.filter(isJsonObject)), 'chat.completion.chunk');
  }

  #getRepair(index: number, isWhole: boolean): ChoiceRepair | undefined {
    const knownRepair = this.#choices.get(index);
    if (knownRepair !== undefined || this.#choices.size >= maxChoices) return knownRepair;
    const choice = new ChoiceRepair({
      callIdPrefix: `call_${this.#context.id}`,
      index,
      isWhole,
      callForm: readCallForm(this.#request),
      inlineThinking: this.#inlineThinking,
    });
    this.#choices.set(index, choice);
    return choice;
  }

  #fillHead(reply: ChatReply, choices: JsonValue, object: string): ChatReply {
    const body = this.#removeOtherTier(reply);
    const isEmpty = Array.isArray(choices) && choices.length === 0 && !isJsonObject(body.usage);
    // Azure's first chunk has no choice and an empty id and object.
    const isExempt = isEmpty && typeof body.id === 'string';
    const { id, created, model } = this.#context;
    this.#id = asText(body.id) || this.#id || createReplyId(id);
    const head: ChatReply = {
      ...(!isExempt && asText(body.id) === '' && { id: this.#id }),
      ...(!isExempt && body.object !== object && { object }),
      ...(typeof body.created !== 'number' && { created }),
      ...(typeof body.model !== 'string' && { model }),
    };
    if (Object.keys(head).length === 0 && choices === body.choices) return body;
    return { ...body, ...head, choices };
  }

  #removeOtherTier(body: ChatReply): ChatReply {
    return this.#keepsTiers ? body : removeOtherTier(body);
  }

  /** Returns the chunks to add before [DONE] if the upstream omitted finish reasons. */
  #endStream(): readonly StreamEvent[] {
    const repairs = [...this.#choices.values()];
    const openRepairs = repairs.filter((choice) => !choice.isFinished);
    if (openRepairs.length === 0 || !repairs.some(({ hasContent }) => hasContent)) return [];
    if (openRepairs.some(({ isTruncated }) => isTruncated)) {
      this.failure = createTruncatedCallError();
      return [];
    }
    // LiteLLM 1.108.7 omits some or all finish reasons if a reply has several choices.
    const missingFinish = classifyMissingFinish(this.#profile);
    const ending = missingFinish === 'cut' && repairs.length > 1 ? 'unknown' : missingFinish;
    if (ending === 'cut') this.failure = createMissingFinishError();
    if (ending === 'unknown') this.#notes.noteMissing('finish reason');
    const lastChunk = this.#lastChunk;
    if (lastChunk === undefined || ending === 'cut') return [];
    const choices = openRepairs.map((choice) => choice.createLastChoice(ending === 'whole'));
    if (ending === 'unknown' && choices.every(isEmptyChoice)) return [];
    const { usage, ...members } = parseBody(lastChunk.data ?? '') ?? {};
    const lastMembers = usage === null ? { ...members, usage } : members;
    return [replaceEventData(lastChunk, this.#fillHead({ ...lastMembers, choices }, choices, 'chat.completion.chunk'))];
  }
}

function isEmptyChoice({ delta }: ChatChoice): boolean {
  return isJsonObject(delta) && Object.keys(delta).length === 0;
}

function isFailure(body: ChatReply): boolean {
  return readFailure(body) !== undefined || readChoices(body).some((choice) => readAbort(choice) !== undefined);
}

function readIndex({ index }: ChatChoice): number | undefined {
  return typeof index === 'number' ? index : undefined;
}

function isChunk(body: ChatReply): boolean {
  return body.object === 'chat.completion.chunk' && hasRequiredMembers(body);
}
