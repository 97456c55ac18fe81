import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { upstreamReason } from '#core/gateway/model-call/upstream-reason.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import type { ReplyDecoder, SkimmedContent } from '../../../canonical/codec.ts';
import {
  type DeltaFragment,
  droppedPart,
  failed,
  type Fragment,
  idFragment,
  modelFragment,
  onlyDelta,
  progress,
  tierFragment,
  usageFragment,
  withText,
} from '../../../canonical/reply.ts';
import { member, readEvent } from '../../../wire/members.ts';
import { readEventType } from '../../contract/pass-through.ts';
import { RepeatedEvent } from '../../../canonical/repeated-event.ts';
import { readFinish, UsageCounter } from './finish.ts';
import { BlockReader, blocksOf } from './read-output.ts';
import type {
  MessagesDelta,
  MessagesEnding,
  MessagesEvent,
  MessagesReply,
  MessagesStopDetails,
  MessagesUsage,
} from '../../../wire/messages.ts';

/**
 * Reads a Messages reply. A whole reply is read like its stream events. Source: Anthropic API reference, "Streaming Messages".
 */
export class MessagesDecoder implements ReplyDecoder {
  readonly #usage = new UsageCounter();
  readonly #blocks = new BlockReader();
  /** Data of the first event; empty once there is content: after content, even an identical event starts a second answer. */
  #started: string | undefined;
  readonly #repeated = new RepeatedEvent();
  #last: DeltaFragment | undefined;
  /** Output count of the first event; undefined once a later event has replaced it. */
  #early: JsonValue | undefined;

  event(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    const text = this.#repeated.read(name, data);
    if (text !== undefined && this.#last !== undefined) return text === '' ? [progress] : [withText(this.#last, text)];
    const fragments = this.#event(name, data, event);
    this.#last = onlyDelta(fragments);
    this.#repeated.learn(name, data, this.#last?.text, textOfDelta);
    return fragments;
  }

  skim(event: StreamEvent, content?: SkimmedContent): readonly Fragment[] | undefined {
    const name = readEventType(event);
    if (content !== undefined) return name === 'content_block_delta' ? this.#skimText(event, content) : undefined;
    const isOfBlock = name === 'content_block_delta' || name === 'content_block_start' || name === 'content_block_stop';
    return isOfBlock ? nothing : undefined;
  }

  #skimText(event: StreamEvent, content: SkimmedContent): readonly Fragment[] | undefined {
    const last = this.#last;
    const text = last && this.#repeated.read(event.name, event.data ?? '');
    if (last === undefined || text === undefined) return undefined;
    event.isPlain = true;
    if (last.type === 'input') content.input(last.key, text);
    else content[last.type](text);
    return nothing;
  }

  #event(name: string | undefined, data: string, event?: StreamEvent): Fragment[] {
    if (name === 'ping') return [];
    if (name === 'message_stop' || data.trim() === '[DONE]') return this.#end();
    const body = readEvent(data, event);
    if (body === undefined) return unreadable(name, data);
    const { type: own }: MessagesEvent = body;
    const type = typeof own === 'string' ? own : (name ?? '');
    const isError = name === 'error' || type === 'error' || (!known.has(type) && readReportedError(body) !== undefined);
    if (isError) return [failed(body)];
    return type === 'message_delta' ? this.#ending(body, event !== undefined) : this.#read(type, body, data);
  }

  whole(body: JsonObject): Fragment[] {
    const { content, type, usage, id, model }: MessagesReply = body;
    if (type === 'error' || readReportedError(body) !== undefined) return [failed(body)];
    if (typeof content !== 'string' && !Array.isArray(content))
      return [failed({ message: 'an answer without content' })];
    const blocks = typeof content === 'string' ? blocksOf(content) : content;
    const read = blocks.flatMap((block, index) => [...this.#blocks.start(index, block), ...this.#blocks.stop(index)]);
    // A reply with content is complete even without a stop reason; a reply with neither is an error.
    const reason = this.#finish(body);
    const finish: Fragment[] = reason.length > 0 || read.length === 0 ? reason : [{ type: 'finish', reason: 'stop' }];
    return [
      ...idFragment(id),
      ...modelFragment(model),
      ...read,
      ...this.#count(usage),
      ...readContainer(body),
      ...finish,
      { type: 'end' },
    ];
  }

  #read(type: string, body: MessagesEvent, data: string): Fragment[] {
    switch (type) {
      case 'message_start':
        this.#started ??= data;
        // Some vendors send the same event twice.
        if (this.#started !== data) return [secondStart()];
        return [
          ...idFragment(member<MessagesReply>(body.message, 'id')),
          ...modelFragment(member<MessagesReply>(body.message, 'model')),
          ...this.#start(member<MessagesReply>(body.message, 'usage')),
          ...readContainer(body.message),
        ];
      case 'content_block_start':
        this.#started &&= '';
        return this.#blocks.start(body.index, body.content_block);
      case 'content_block_delta':
        return this.#blocks.delta(body.index, body.delta);
      case 'content_block_stop':
        return this.#blocks.stop(body.index);
      case 'message_stop':
        return this.#end();
      case 'message':
        return this.whole(body);
      default:
        return [];
    }
  }

  /** @param isShared true if the event passes through: its client already has the early output count */
  #ending({ usage, delta }: MessagesEvent, isShared: boolean): Fragment[] {
    // Some vendors count only at the beginning and send zero here.
    const stands = isShared || member<MessagesUsage>(usage, 'output_tokens') === 0;
    if (stands && this.#early !== undefined) this.#usage.add({ output_tokens: this.#early });
    this.#early = undefined;
    return [...this.#blocks.stopAll(), ...this.#count(usage), ...readContainer(delta), ...this.#finish(delta)];
  }

  /** The output count of the first event is not final, so it is added only with the last event. */
  #start(usage: JsonValue | undefined): Fragment[] {
    this.#early = member<MessagesUsage>(usage, 'output_tokens');
    const counts: MessagesUsage | undefined = isJsonObject(usage) ? { ...usage, output_tokens: undefined } : undefined;
    return counts === undefined ? [] : this.#count(counts);
  }

  #count(usage: JsonValue | undefined): Fragment[] {
    this.#usage.add(usage);
    const tier = tierFragment(member<MessagesUsage>(usage, 'service_tier'));
    return [...usageFragment(this.#usage.usage), ...tier];
  }

  #finish(ending: JsonValue | undefined): Fragment[] {
    const finish = readFinish(ending);
    if (finish === undefined) return [];
    const explanation = member<MessagesStopDetails>(member<MessagesEnding>(ending, 'stop_details'), 'explanation');
    // A refusal without text gets a standard text.
    const isSilent = finish.type === 'finish' && finish.reason === 'content_filter' && !this.#blocks.hasSpoken;
    if (!isSilent || typeof explanation !== 'string') return [finish];
    return [{ type: 'refusal', text: explanation, isReason: true }, finish];
  }

  #end(): Fragment[] {
    return [...this.#blocks.stopAll(), { type: 'end' }];
  }
}

const nothing: readonly Fragment[] = [];
/** Events of the format; an `error` member in these events is not a failure. */
const known: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);
/** Members of a delta that are read. */
const said = ['text', 'thinking', 'partial_json', 'signature', 'citation'] as const;

/** The failure of a stream in which a second response begins, whose relation to the first is unknown. */
function secondStart(): Fragment {
  return { type: 'error', error: new GatewayError('upstream_failed', upstreamReason('upstream.reason.second_start')) };
}

/** Reads an event whose data is not JSON; its name may identify it. */
function unreadable(name: string | undefined, data: string): Fragment[] {
  if (name === 'error') return [failed({ message: data })];
  return name === 'content_block_delta' ? [progress] : [];
}

/** Undefined for a delta with more than a text. */
function textOfDelta({ delta }: MessagesEvent): JsonValue | undefined {
  const values = said.map((name) => member<MessagesDelta>(delta, name)).filter((value) => value !== undefined);
  return values.length === 1 ? values[0] : undefined;
}

/** Notes the container with the files of the vendor's code execution: no other vendor can continue with these files. */
function readContainer(ending: JsonValue | undefined): Fragment[] {
  return isJsonObject(member<MessagesEnding>(ending, 'container')) ? [droppedPart('container', '')] : [];
}
