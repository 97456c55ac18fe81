import { isFilled, isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { resolveFinish, type FinishReason } from '../../../canonical/reply.ts';
import { type ChoiceUpdate, ChoiceTracker, type ChoiceTrackerOptions } from '../reply/choice-tracker.ts';
import { readFinish } from '../reply/finish.ts';
import { writeFinish } from '../reply/reply-object.ts';
import { CallRepair } from './call-repair.ts';
import type { ChatChoice, ChatMessage, ChatCall } from '../../../wire/chat.ts';
import { asText } from '../../../wire/members.ts';
import { listOf, readMessage } from '../reply/read-reply.ts';
import type { Editable } from '../../../wire/loose.ts';

interface ChoiceRepairOptions extends ChoiceTrackerOptions {
  /** Prefix of the generated ids for calls without an id. */
  readonly id: string;
  readonly index: number;
  readonly isWhole: boolean;
  /** True if the client sent `functions` and supports only the deprecated calls. */
  readonly isOld: boolean;
}

/** Repairs one answer of a reply, as a stream of deltas or as a whole message. */
export class ChoiceRepair {
  readonly #tracker: ChoiceTracker;
  readonly #calls: CallRepair;
  readonly #index: number;
  readonly #isOld: boolean;
  readonly #isWhole: boolean;
  #hasRole = false;
  #reported: FinishReason | undefined;
  /** The finish reason that the client has received. */
  #sent: string | undefined;

  constructor({ id, index, isWhole, isOld, ...options }: ChoiceRepairOptions) {
    this.#tracker = new ChoiceTracker(options);
    this.#calls = new CallRepair(index === 0 ? id : `${id}_${index}`, isWhole);
    this.#index = index;
    this.#isOld = isOld;
    this.#isWhole = isWhole;
  }

  get hasContent(): boolean {
    return !this.#tracker.isEmpty;
  }

  get isFinished(): boolean {
    return this.#sent !== undefined;
  }

  get isTorn(): boolean {
    return this.#tracker.calls.calls.some((call) => call.isTorn);
  }

  /** True while deltas that carry only text, reasoning or input need no repair. */
  get isPlain(): boolean {
    return this.#hasRole && this.#tracker.isPlain;
  }

  /** Takes a delta of text and reasoning that needs no repair. Returns false, without taking it, if it needs a repair. */
  plain(text: string, reasoning: string): boolean {
    return this.#tracker.plain(text, reasoning);
  }

  /** Takes a piece of a call's input that needs no repair. Returns false, without taking it, if it needs a repair. */
  plainInput(index: number, input: string): boolean {
    const call = this.#tracker.calls.numbered(index);
    if (call === undefined || !this.#calls.hasSent(call, index)) return false;
    call.take(input);
    return true;
  }

  chunk(choice: ChatChoice): ChatChoice {
    const { delta, message, ...members } = choice;
    const isFirst = this.#tracker.isEmpty;
    const additions = [
      ...(isJsonObject(delta) ? [this.#tracker.delta(delta)] : []),
      ...(isJsonObject(message) ? [this.#tracker.message(message)] : []),
    ];
    const whole = isFirst && isJsonObject(message) ? message : {};
    const given = isJsonObject(delta) ? delta : whole;
    const finish = this.#finish(choice);
    const repaired = this.#repair(given, this.#joined(additions, finish !== undefined), finish !== undefined);
    const finish_reason = this.#word(choice.finish_reason, finish);
    const isClean =
      repaired === delta &&
      message === undefined &&
      choice.index === this.#index &&
      choice.finish_reason === finish_reason;
    if (isClean) return choice;
    return { ...members, index: this.#index, delta: repaired, ...(finish_reason !== undefined && { finish_reason }) };
  }

  whole(choice: ChatChoice): ChatChoice {
    const { delta, message, ...members } = choice;
    const given = [message, delta].find(isJsonObject) ?? {};
    const additions = [this.#tracker.message(given)];
    const repaired = this.#repair(given, this.#joined(additions, true), true);
    const finish = this.#finish(choice);
    // A choice without content and finish reason is not an answer, in line with the decoder.
    if (finish === undefined && this.#tracker.isEmpty) return choice;
    const finish_reason = this.#word(choice.finish_reason, finish ?? 'stop');
    const isClean = repaired === message && choice.index === this.#index && choice.finish_reason === finish_reason;
    return isClean
      ? choice
      : { ...members, index: this.#index, message: repaired, finish_reason: finish_reason ?? null };
  }

  /**
   * The choice of a last chunk that the upstream omitted.
   *
   * @param isWhole false to leave the finish reason null
   */
  end(isWhole: boolean): ChatChoice {
    const delta = this.#repair({}, this.#joined([], true), true);
    const word = isWhole ? this.#word(undefined, this.#reported ?? 'stop') : undefined;
    return { index: this.#index, delta, finish_reason: word ?? null };
  }

  #finish(choice: ChatChoice): FinishReason | undefined {
    const finish = readFinish(choice);
    return finish === undefined || finish === 'failed' ? undefined : finish.reason;
  }

  /** Joins the additions of a chunk; the last chunk also gets the held-back content. */
  #joined(additions: readonly ChoiceUpdate[], isLast: boolean): ChoiceUpdate {
    const held = isLast ? this.#tracker.finish() : { reasoning: '', text: '', calls: [] };
    return {
      reasoning: additions.map(({ reasoning }) => reasoning).join('') + held.reasoning,
      text: additions.map(({ text }) => text).join('') + held.text,
      refusal: additions.map(({ refusal }) => refusal).join(''),
      citations: [],
      images: [],
      calls: [...additions.flatMap(({ calls }) => calls), ...held.calls],
    };
  }

  #repair(given: ChatMessage, addition: ChoiceUpdate, isLast: boolean): ChatMessage {
    const needsRole = !this.#hasRole && asText(given.role) === '';
    this.#hasRole = true;
    return repairMessage(given, addition, {
      entries: this.#isOld ? undefined : this.#calls.entries(addition.calls, isLast),
      needsRole,
      isWhole: this.#isWhole,
    });
  }

  /** The finish reason for the client, which gets it once. Undefined if the choice has no finish reason. */
  #word(given: JsonValue | undefined, finish: FinishReason | undefined): JsonValue | undefined {
    this.#reported ??= finish;
    if (this.#reported === undefined) return typeof given === 'string' ? null : given;
    const hasCalls = this.#isOld ? this.#tracker.calls.calls.length > 0 : this.#calls.hasCalls;
    const word = writeFinish(resolveFinish(this.#reported, hasCalls), this.#isOld);
    if (word === this.#sent) return typeof given === 'string' ? null : given;
    this.#sent = word;
    return word;
  }
}

/** Members that hold reasoning as text. Clients always get the first: few read the second. */
const reasoningNames = ['reasoning_content', 'reasoning'] as const;

interface MessageRepair {
  /** The new entries of `tool_calls`; undefined keeps the given entries. */
  readonly entries: readonly ChatCall[] | undefined;
  readonly needsRole: boolean;
  /** False for a delta. */
  readonly isWhole: boolean;
}

/** Repairs the content of a delta or message and keeps all other members; returns the same object if it is clean. */
function repairMessage(received: ChatMessage, addition: ChoiceUpdate, repair: MessageRepair): ChatMessage {
  const given = withoutEmpty(received);
  const changes = {
    ...(repair.needsRole && { role: 'assistant' }),
    ...textChanges(given, addition, repair),
    ...reasoningChanges(given, addition),
    ...(asText(given.refusal) !== addition.refusal && { refusal: addition.refusal }),
  };
  const { entries } = repair;
  if (entries === undefined || hasEntries(given, entries)) {
    return Object.keys(changes).length === 0 ? given : { ...given, ...changes };
  }
  const { tool_calls: _calls, function_call: _call, ...members } = given;
  return { ...members, ...changes, ...(entries.length > 0 && { tool_calls: [...entries] }) };
}

/** Removes an empty call and an empty audio: clients treat the mere member as a call or audio. */
function withoutEmpty(given: ChatMessage): ChatMessage {
  if (!isEmptyObject(given.function_call) && !isEmptyObject(given.audio)) return given;
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => !((name === 'function_call' || name === 'audio') && isEmptyObject(value)),
    ),
  );
}

function isEmptyObject(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && !isFilled(value);
}

/** True if the calls of a message are exactly these entries. */
function hasEntries({ tool_calls = null, function_call }: ChatMessage, entries: readonly ChatCall[]): boolean {
  if (isJsonObject(function_call)) return false;
  if (tool_calls === null) return entries.length === 0;
  if (!Array.isArray(tool_calls) || tool_calls.length !== entries.length) return false;
  return entries.every((entry, at) => entry === tool_calls[at]);
}

function textChanges(
  { content }: ChatMessage,
  addition: ChoiceUpdate,
  { isWhole, entries = [] }: MessageRepair,
): ChatMessage {
  const isText = content === undefined || content === null || typeof content === 'string';
  if (isText && asText(content) === addition.text) return {};
  // A whole message with calls and no text has null as its content.
  return { content: addition.text === '' && isWhole && entries.length > 0 ? null : addition.text };
}

function reasoningChanges(given: ChatMessage, { reasoning }: ChoiceUpdate): ChatMessage {
  const names = reasoningNames.filter((name) => asText(given[name]) !== '');
  const changes: Editable<ChatMessage> = {};
  for (const name of names) if (given[name] !== reasoning) changes[name] = reasoning;
  if (reasoning !== '' && !names.includes('reasoning_content')) changes.reasoning_content = reasoning;
  return { ...changes, ...(names.length === 0 && detailChanges(given, reasoning)) };
}

/** MiniMax repeats all reasoning in each entry of the details. */
function detailChanges(given: ChatMessage, reasoning: string): ChatMessage {
  const { reasoning: repeated, isDetailed } = readMessage(given);
  if (!isDetailed || repeated === reasoning) return {};
  const first = listOf(given.reasoning_details).find(isJsonObject);
  return { reasoning_details: reasoning === '' ? [] : [{ ...first, text: reasoning }] };
}
