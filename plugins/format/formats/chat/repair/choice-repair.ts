import { isFilled, isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { resolveFinish, type FinishReason } from '../../../canonical/reply.ts';
import type { ChatChoice, ChatMessage, ChatCall } from '../../../wire/chat.ts';
import type { Editable } from '../../../wire/loose.ts';
import { asText } from '../../../wire/members.ts';
import { omitMembers } from '../../adaptation/adapt-members.ts';
import { type ChoiceUpdate, ChoiceTracker, type ChoiceTrackerOptions } from '../reply/choice-tracker.ts';
import { readFinish } from '../reply/finish.ts';
import { toList, readMessage } from '../reply/read-reply.ts';
import { type CallForm, writeFinish } from '../reply/reply-object.ts';
import { CallRepair } from './call-repair.ts';

interface ChoiceRepairOptions extends ChoiceTrackerOptions {
  readonly callIdPrefix: string;
  readonly index: number;
  readonly isWhole: boolean;
  readonly callForm: CallForm;
}

/** Repairs one choice of a reply, whether it arrives as deltas or as a whole message. */
export class ChoiceRepair {
  readonly #tracker: ChoiceTracker;
  readonly #calls: CallRepair;
  readonly #index: number;
  readonly #callForm: CallForm;
  readonly #isWhole: boolean;
  #hasRole = false;
  #reportedFinish: FinishReason | undefined;
  #sentFinishReason: string | undefined;

  constructor({ callIdPrefix, index, isWhole, callForm, ...options }: ChoiceRepairOptions) {
    this.#tracker = new ChoiceTracker(options);
    this.#calls = new CallRepair(index === 0 ? callIdPrefix : `${callIdPrefix}_${index}`, isWhole);
    this.#index = index;
    this.#callForm = callForm;
    this.#isWhole = isWhole;
  }

  get hasContent(): boolean {
    return !this.#tracker.isEmpty;
  }

  get isFinished(): boolean {
    return this.#sentFinishReason !== undefined;
  }

  get isTruncated(): boolean {
    return this.#tracker.callTracker.calls.some((call) => call.isTruncated);
  }

  /** True if deltas that carry only text, reasoning or input need no repair. */
  get isPlain(): boolean {
    return this.#hasRole && this.#tracker.isPlain;
  }

  /** Returns false without appending the delta if it needs a repair. */
  tryAppendPlainDelta(text: string, reasoning: string): boolean {
    return this.#tracker.tryAppendPlainDelta(text, reasoning);
  }

  /** Returns false without appending the piece if it needs a repair. */
  tryAppendPlainInput(index: number, input: string): boolean {
    const call = this.#tracker.callTracker.findNumbered(index);
    if (call === undefined || !this.#calls.hasSent(call, index)) return false;
    call.appendInput(input);
    return true;
  }

  /** Some vendors send a message instead of a delta, or in addition to it. */
  repairChunk(choice: ChatChoice): ChatChoice {
    const { delta, message, ...members } = choice;
    const isFirst = this.#tracker.isEmpty;
    const updates = [
      ...(isJsonObject(delta) ? [this.#tracker.applyDelta(delta)] : []),
      ...(isJsonObject(message) ? [this.#tracker.applyMessage(message)] : []),
    ];
    const firstMessage = isFirst && isJsonObject(message) ? message : {};
    const receivedDelta = isJsonObject(delta) ? delta : firstMessage;
    const finish = this.#readFinish(choice);
    const isLast = finish !== undefined;
    const repairedDelta = this.#repair(receivedDelta, this.#joinUpdates(updates, isLast), isLast);
    const finish_reason = this.#chooseFinishReason(choice.finish_reason, finish);
    const isClean =
      repairedDelta === delta &&
      message === undefined &&
      choice.index === this.#index &&
      choice.finish_reason === finish_reason;
    if (isClean) return choice;
    return {
      ...members,
      index: this.#index,
      delta: repairedDelta,
      ...(finish_reason !== undefined && { finish_reason }),
    };
  }

  repairWhole(choice: ChatChoice): ChatChoice {
    const { delta, message, ...members } = choice;
    const receivedMessage = [message, delta].find(isJsonObject) ?? {};
    const update = this.#tracker.applyMessage(receivedMessage);
    const repairedMessage = this.#repair(receivedMessage, this.#joinUpdates([update], true), true);
    const finish = this.#readFinish(choice);
    // A choice without content or finish reason is not a reply for the decoder either.
    if (finish === undefined && this.#tracker.isEmpty) return choice;
    const finish_reason = this.#chooseFinishReason(choice.finish_reason, finish ?? 'stop');
    const isClean =
      repairedMessage === message && choice.index === this.#index && choice.finish_reason === finish_reason;
    if (isClean) return choice;
    return { ...members, index: this.#index, message: repairedMessage, finish_reason: finish_reason ?? null };
  }

  /** For a stream whose upstream omitted the last chunk. The finish reason stays null unless `isComplete` is true. */
  createLastChoice(isComplete: boolean): ChatChoice {
    const delta = this.#repair({}, this.#joinUpdates([], true), true);
    const reason = isComplete ? this.#chooseFinishReason(undefined, this.#reportedFinish ?? 'stop') : undefined;
    return { index: this.#index, delta, finish_reason: reason ?? null };
  }

  #readFinish(choice: ChatChoice): FinishReason | undefined {
    const finish = readFinish(choice);
    return finish === undefined || finish === 'failed' ? undefined : finish.reason;
  }

  #joinUpdates(updates: readonly ChoiceUpdate[], isLast: boolean): ChoiceUpdate {
    const heldContent = isLast ? this.#tracker.finish() : { reasoning: '', text: '', calls: [] };
    return {
      reasoning: updates.map(({ reasoning }) => reasoning).join('') + heldContent.reasoning,
      text: updates.map(({ text }) => text).join('') + heldContent.text,
      refusal: updates.map(({ refusal }) => refusal).join(''),
      citations: [],
      images: [],
      calls: [...updates.flatMap(({ calls }) => calls), ...heldContent.calls],
    };
  }

  #repair(received: ChatMessage, update: ChoiceUpdate, isLast: boolean): ChatMessage {
    const needsRole = !this.#hasRole && asText(received.role) === '';
    this.#hasRole = true;
    return repairMessage(received, update, {
      entries: this.#callForm === 'function_call' ? undefined : this.#calls.repairPieces(update.calls, isLast),
      needsRole,
      isWhole: this.#isWhole,
    });
  }

  #chooseFinishReason(received: JsonValue | undefined, finish: FinishReason | undefined): JsonValue | undefined {
    const openValue = typeof received === 'string' ? null : received;
    this.#reportedFinish ??= finish;
    if (this.#reportedFinish === undefined) return openValue;
    const isDeprecated = this.#callForm === 'function_call';
    const hasCalls = isDeprecated ? this.#tracker.callTracker.calls.length > 0 : this.#calls.hasCalls;
    const reason = writeFinish(resolveFinish(this.#reportedFinish, hasCalls), this.#callForm);
    // The client gets the finish reason only once.
    if (reason === this.#sentFinishReason) return openValue;
    this.#sentFinishReason = reason;
    return reason;
  }
}

const reasoningNames = ['reasoning_content', 'reasoning'] as const;

interface MessageRepair {
  /** The new `tool_calls`; undefined to keep the received ones. */
  readonly entries: readonly ChatCall[] | undefined;
  readonly needsRole: boolean;
  readonly isWhole: boolean;
}

function repairMessage(received: ChatMessage, update: ChoiceUpdate, repair: MessageRepair): ChatMessage {
  const message = removeEmptyMembers(received);
  const changes = {
    ...(repair.needsRole && { role: 'assistant' }),
    ...changeText(message, update, repair),
    ...changeReasoning(message, update),
    ...(asText(message.refusal) !== update.refusal && { refusal: update.refusal }),
  };
  const { entries } = repair;
  if (entries === undefined || hasSameCalls(message, entries)) {
    return Object.keys(changes).length === 0 ? message : { ...message, ...changes };
  }
  const { tool_calls: _calls, function_call: _call, ...members } = message;
  return { ...members, ...changes, ...(entries.length > 0 && { tool_calls: [...entries] }) };
}

function removeEmptyMembers(message: ChatMessage): ChatMessage {
  // Clients treat the mere presence of these members as a call or audio.
  const emptyNames = (['function_call', 'audio'] as const).filter((name) => isEmptyObject(message[name]));
  return omitMembers(message, emptyNames);
}

function isEmptyObject(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && !isFilled(value);
}

function hasSameCalls({ tool_calls = null, function_call }: ChatMessage, entries: readonly ChatCall[]): boolean {
  if (isJsonObject(function_call)) return false;
  if (tool_calls === null) return entries.length === 0;
  if (!Array.isArray(tool_calls) || tool_calls.length !== entries.length) return false;
  return entries.every((entry, index) => entry === tool_calls[index]);
}

function changeText(
  { content }: ChatMessage,
  { text }: ChoiceUpdate,
  { isWhole, entries = [] }: MessageRepair,
): ChatMessage {
  const isText = content === undefined || content === null || typeof content === 'string';
  if (isText && asText(content) === text) return {};
  // The content of a whole message with calls and no text is null.
  return { content: text === '' && isWhole && entries.length > 0 ? null : text };
}

function changeReasoning(message: ChatMessage, { reasoning }: ChoiceUpdate): ChatMessage {
  const names = reasoningNames.filter((name) => asText(message[name]) !== '');
  const changes: Editable<ChatMessage> = {};
  for (const name of names) if (message[name] !== reasoning) changes[name] = reasoning;
  // Few clients read `reasoning`.
  if (reasoning !== '' && !names.includes('reasoning_content')) changes.reasoning_content = reasoning;
  return { ...changes, ...(names.length === 0 && changeDetails(message, reasoning)) };
}

function changeDetails(message: ChatMessage, reasoning: string): ChatMessage {
  const content = readMessage(message);
  if (!content.isFromDetails || content.reasoning === reasoning) return {};
  const firstDetail = toList(message.reasoning_details).find(isJsonObject);
  // MiniMax repeats the earlier reasoning in each chunk.
  return { reasoning_details: reasoning === '' ? [] : [{ ...firstDetail, text: reasoning }] };
}
