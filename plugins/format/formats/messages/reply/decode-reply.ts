import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ReplyDecoder, SkimmedContent } from '../../../canonical/codec.ts';
import { RepeatedDelta } from '../../../canonical/repeated-event.ts';
import {
  createDroppedPart,
  createErrorFragment,
  createFailureFragment,
  type Fragment,
  toIdFragments,
  toModelFragments,
  progress,
  toTierFragments,
  toUsageFragments,
} from '../../../canonical/reply.ts';
import { asObject, readMember, parseEventData } from '../../../wire/members.ts';
import type {
  MessagesEnding,
  MessagesEvent,
  MessagesReply,
  MessagesStopDetails,
  MessagesUsage,
} from '../../../wire/messages.ts';
import { readEventType } from '../../contract/pass-through.ts';
import { readFinish, UsageCounter } from './finish.ts';
import { BlockReader, readDeltaText, textToBlocks } from './read-output.ts';

const noFragments: readonly Fragment[] = [];
const eventTypes: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

/** Reads a Messages reply. A non-streaming reply is read as if it had been streamed. Source: Anthropic API reference, "Streaming Messages". */
export class MessagesDecoder implements ReplyDecoder {
  readonly #usage = new UsageCounter();
  readonly #blocks = new BlockReader();
  /** Empty once there is content: an identical event would then start a second answer. */
  #startData: string | undefined;
  readonly #deltas = new RepeatedDelta();
  /** Undefined once a later event has replaced it. */
  #earlyOutput: JsonValue | undefined;

  readEvent(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    const repeatedFragments = this.#deltas.read(name, data);
    return repeatedFragments ?? this.#deltas.learn(name, data, this.#readEvent(name, data, event), readDeltaText);
  }

  skimEvent(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined {
    const name = readEventType(event);
    if (content !== undefined) return name === 'content_block_delta' ? this.#skimText(event, content) : undefined;
    const isBlockEvent =
      name === 'content_block_delta' || name === 'content_block_start' || name === 'content_block_stop';
    return isBlockEvent ? noFragments : undefined;
  }

  #skimText(event: StreamEvent, content: SkimmedContent): readonly Fragment[] | undefined {
    const [delta] = this.#deltas.read(event.name, event.data ?? '') ?? [];
    if (delta === undefined) return undefined;
    event.isPlain = true;
    if (delta.type === 'input') content.addInput(delta.key, delta.text);
    else if (delta.type === 'reasoning') content.addReasoning(delta.text);
    else if (delta.type === 'text') content.addText(delta.text);
    return noFragments;
  }

  #readEvent(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    if (name === 'ping') return [];
    if (name === 'message_stop' || data.trim() === '[DONE]') return this.#endBlocks();
    const body = parseEventData(data, event);
    if (body === undefined) return readMalformed(name, data);
    const { type: dataType }: MessagesEvent = body;
    const type = typeof dataType === 'string' ? dataType : (name ?? '');
    // An `error` member in an event of this format is not a failure.
    const isError =
      name === 'error' || type === 'error' || (!eventTypes.has(type) && readReportedError(body) !== undefined);
    if (isError) return [createErrorFragment(body)];
    return type === 'message_delta'
      ? this.#readEnding(body, event !== undefined)
      : this.#readEventOfType(type, body, data);
  }

  readWhole(body: JsonObject): Fragment[] {
    const { content, type, usage, id, model }: MessagesReply = body;
    if (type === 'error' || readReportedError(body) !== undefined) return [createErrorFragment(body)];
    if (typeof content !== 'string' && !Array.isArray(content))
      return [createErrorFragment({ message: 'the reply has no content' })];
    const blocks = typeof content === 'string' ? textToBlocks(content) : content;
    const contentFragments = blocks.flatMap((block, index) => [
      ...this.#blocks.startBlock(index, block),
      ...this.#blocks.stopBlock(index),
    ]);
    // A reply with content is complete even without a stop reason. If it has neither, it gets no finish, and the guard reports an error.
    const finishFragments = this.#readFinish(body);
    const finish: Fragment[] =
      finishFragments.length > 0 || contentFragments.length === 0
        ? finishFragments
        : [{ type: 'finish', reason: 'stop' }];
    return [
      ...toIdFragments(id),
      ...toModelFragments(model),
      ...contentFragments,
      ...this.#addUsage(usage),
      ...readContainer(body),
      ...finish,
      { type: 'end' },
    ];
  }

  #readEventOfType(type: string, body: MessagesEvent, data: string): Fragment[] {
    switch (type) {
      case 'message_start':
        this.#startData ??= data;
        // Some vendors send the same event twice. If the events differ, the second response cannot be related to the first.
        if (this.#startData !== data) return [createFailureFragment('upstream.reason.second_start')];
        return this.#readStart(asObject(body.message));
      case 'content_block_start':
        this.#startData &&= '';
        return this.#blocks.startBlock(body.index, body.content_block);
      case 'content_block_delta':
        return this.#blocks.readDelta(body.index, body.delta);
      case 'content_block_stop':
        return this.#blocks.stopBlock(body.index);
      case 'message_stop':
        return this.#endBlocks();
      case 'message':
        return this.readWhole(body);
      default:
        return [];
    }
  }

  #readStart(message: MessagesReply): Fragment[] {
    const { id, model, usage } = message;
    // The first event's output count is not final, so it is only added with the last event.
    this.#earlyOutput = readMember<MessagesUsage>(usage, 'output_tokens');
    const counts = isJsonObject(usage) ? this.#addUsage({ ...usage, output_tokens: undefined }) : [];
    return [...toIdFragments(id), ...toModelFragments(model), ...counts, ...readContainer(message)];
  }

  /** @param isPassedThrough true if the event passes through, in which case the client already has the early output count */
  #readEnding({ usage, delta }: MessagesEvent, isPassedThrough: boolean): Fragment[] {
    // Some vendors only report the count in the first event and send zero here.
    const keepsEarlyOutput = isPassedThrough || readMember<MessagesUsage>(usage, 'output_tokens') === 0;
    if (keepsEarlyOutput && this.#earlyOutput !== undefined) this.#usage.add({ output_tokens: this.#earlyOutput });
    this.#earlyOutput = undefined;
    return [
      ...this.#blocks.stopAllBlocks(),
      ...this.#addUsage(usage),
      ...readContainer(delta),
      ...this.#readFinish(delta),
    ];
  }

  #addUsage(usage: JsonValue | undefined): Fragment[] {
    this.#usage.add(usage);
    const tier = toTierFragments(readMember<MessagesUsage>(usage, 'service_tier'));
    return [...toUsageFragments(this.#usage.usage), ...tier];
  }

  #readFinish(ending: JsonValue | undefined): Fragment[] {
    const finish = readFinish(ending);
    if (finish === undefined) return [];
    const details = readMember<MessagesEnding>(ending, 'stop_details');
    const { explanation }: MessagesStopDetails = asObject(details);
    // A refusal without content would look empty to the reader, so the vendor's explanation is sent as its reason.
    const isSilentRefusal = finish.type === 'finish' && finish.reason === 'content_filter' && !this.#blocks.hasContent;
    if (!isSilentRefusal || typeof explanation !== 'string') return [finish];
    return [{ type: 'refusal', text: explanation, isReason: true }, finish];
  }

  #endBlocks(): Fragment[] {
    return [...this.#blocks.stopAllBlocks(), { type: 'end' }];
  }
}

function readMalformed(name: string | undefined, data: string): Fragment[] {
  if (name === 'error') return [createErrorFragment({ message: data })];
  return name === 'content_block_delta' ? [progress] : [];
}

function readContainer(ending: JsonValue | undefined): Fragment[] {
  // The files in a code-execution container exist only at this vendor.
  return isJsonObject(readMember<MessagesEnding>(ending, 'container')) ? [createDroppedPart('container', '')] : [];
}
