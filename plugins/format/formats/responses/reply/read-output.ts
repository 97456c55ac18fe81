import { CollectedText } from '#core/platform/memory/collected-text.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ToolForm } from '../../../canonical/conversation.ts';
import { mediaTypeIn } from '../../../canonical/made-images.ts';
import { missingEnd } from '../../../canonical/missing-end.ts';
import { droppedAudio, droppedPart, type Citation, type Fragment, perBlock } from '../../../canonical/reply.ts';
import { asList, asText, member } from '../../../wire/members.ts';
import { toolSearchName } from '../request/read-tools.ts';
import type { ItemTracker, TrackedItem } from './item-tracker.ts';
import { type StreamedText, textPartOfEvent } from './text-parts.ts';
import type { ResponsesAnnotation, ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';

type TextKind = StreamedText['says'];

const callForms: Readonly<Record<string, ToolForm>> = {
  function_call: 'function',
  custom_tool_call: 'freeform',
  tool_search_call: 'tool_search',
};

/** Reads the new content of events about items and their parts. */
export class ItemFragments {
  readonly #tracker: ItemTracker;

  constructor(tracker: ItemTracker) {
    this.#tracker = tracker;
  }

  added(event: ResponsesEvent): Fragment[] {
    const tracked = this.#tracker.open(event);
    const { item } = event;
    return isJsonObject(item) && isCall(item)
      ? nameCall(item, tracked)
      : [{ type: 'held', characters: perBlock }, { type: 'break' }];
  }

  /** Reads an event about a part of an item; empty for an unknown event. */
  part(type: string, event: ResponsesEvent): Fragment[] {
    const text = textPartOfEvent(type);
    if (text !== undefined) {
      const key = `${text.list} ${numberOf(event[text.index])}`;
      const tracked = this.#tracker.find(event);
      return type.endsWith('.delta')
        ? addText(tracked, text.says, key, asText(event.delta), event.logprobs)
        : completeText(tracked, text.says, key, asText(event[text.member]), event.logprobs);
    }
    switch (type) {
      case 'response.output_text.annotation.added':
        return cite(this.#tracker.find(event), [event.annotation]);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return [{ type: 'input', key: this.#tracker.find(event).key, text: asText(event.delta) }];
      case 'response.function_call_arguments.done':
        return endInput(this.#tracker.find(event), event.arguments);
      case 'response.custom_tool_call_input.done':
        return endInput(this.#tracker.find(event), event.input);
      default:
        return type.startsWith('response.audio.') ? [droppedAudio] : [];
    }
  }

  done(item: JsonValue | undefined, tracked: TrackedItem): Fragment[] {
    if (!isJsonObject(item) || tracked.isDone) return [];
    tracked.end(item);
    if (isCall(item)) return [...nameCall(item, tracked), { type: 'call_end', key: tracked.key, input: inputOf(item) }];
    const { type }: ResponsesItem = item;
    if (type === 'message') return [...readMessage(item, tracked), { type: 'break', isParagraph: true }];
    if (type === 'reasoning') return readReasoning(item, tracked);
    if (type === 'image_generation_call') return readImage(item);
    // An unknown item is not dropped if its text arrived in deltas.
    return tracked.parts.size > 0 ? [] : [droppedPart(asText(type), 'unknown items')];
  }

  /** Reads an item in the list at the end of a reply, which may repeat earlier events. */
  repeated(item: JsonValue, index: number): Fragment[] {
    if (!isJsonObject(item)) return [];
    const event: ResponsesEvent = { item, output_index: index };
    const known = this.#tracker.recall(event);
    if (known === undefined) {
      const opened = this.#tracker.open(event);
      opened.isListed = true;
      return this.done(item, opened);
    }
    known.isListed = true;
    // Once other items follow, the state can no longer be placed with its reasoning.
    known.hasState ||= !this.#tracker.isLast(known);
    return this.done(item, known);
  }
}

/** @param tokens tokens of the text, which is empty if they are only the first bytes of a character */
function addText(tracked: TrackedItem, kind: TextKind, part: string, text: string, tokens?: JsonValue): Fragment[] {
  const logprobs = kind === 'text' ? asList(tokens).filter(isJsonObject) : [];
  if (text === '') return logprobs.length === 0 ? [] : [{ type: 'text', text, logprobs }];
  const piece: Fragment = { type: kind, text, ...(logprobs.length > 0 && { logprobs }) };
  const isNext = tracked.lastPart !== undefined && tracked.lastPart !== part;
  tracked.lastPart = part;
  const known = tracked.parts.get(part);
  const collected = known ?? new CollectedText();
  collected.add(text);
  if (known === undefined) tracked.parts.set(part, collected);
  const held: Fragment[] = known === undefined ? [{ type: 'held', characters: perBlock }] : [];
  if (!isNext) return [...held, piece];
  // Parts of reasoning are paragraphs of one text; parts of a message are separate.
  return [
    ...held,
    ...(kind === 'reasoning' ? [{ type: kind, text: `\n\n${text}` }] : [{ type: 'break' as const }, piece]),
  ];
}

/** Adds the missing end of a text. A text that differs from the deltas is ignored: the client already has the deltas. */
function completeText(
  tracked: TrackedItem,
  kind: TextKind,
  part: string,
  whole: string,
  tokens?: JsonValue,
): Fragment[] {
  const had = tracked.parts.get(part)?.text ?? '';
  if (had === '' && whole !== '') return addText(tracked, kind, part, whole, tokens);
  return addText(tracked, kind, part, missingEnd(whole, had) ?? '');
}

function readMessage(item: ResponsesItem, tracked: TrackedItem): Fragment[] {
  if (typeof item.content === 'string') return completeText(tracked, 'text', 'content 0', item.content);
  // Citations are added only if the message has none yet.
  const isCited = tracked.citations > 0;
  const parts = asList(item.content);
  const keys = partKeys(parts.map(textOfPart), tracked);
  return parts.flatMap((part, index) => {
    const key = keys[index] ?? '';
    const kind = member<ResponsesPart>(part, 'type') === 'refusal' ? 'refusal' : 'text';
    if (kind === 'refusal') return completeText(tracked, kind, key, textOfPart(part));
    const tokens = member<ResponsesPart>(part, 'logprobs');
    const text = completeText(tracked, kind, key, textOfPart(part), tokens);
    return isCited ? text : [...text, ...cite(tracked, asList(member<ResponsesPart>(part, 'annotations')))];
  });
}

function textOfPart(part: JsonValue): string {
  return asText(member<ResponsesPart>(part, member<ResponsesPart>(part, 'type') === 'refusal' ? 'refusal' : 'text'));
}

/**
 * The keys under which the parts of a finished message were streamed; parts that were not streamed get unused keys. vLLM does not
 * start at 0: it also counts the parts of earlier items.
 */
function partKeys(texts: readonly string[], { parts }: TrackedItem): string[] {
  const streamed = [...parts].map(([key, collected]) => ({ key, text: collected.text }));
  const own = texts.map((text, index) => {
    const there = parts.get(`content ${index}`);
    return there === undefined ? undefined : missingEnd(text, there.text) !== undefined;
  });
  if (own.includes(false)) return texts.map((_, index) => streamed[index]?.key ?? `unstreamed ${index}`);
  const strays = streamed.filter(({ key }) => !texts.some((_, index) => key === `content ${index}`));
  return texts.map((text, index) => {
    const at = own[index] === true ? -1 : strays.findIndex((stray) => missingEnd(text, stray.text) !== undefined);
    const stray = at === -1 ? undefined : strays.splice(0, at + 1).at(-1);
    return stray?.key ?? `content ${index}`;
  });
}

function cite(tracked: TrackedItem, annotations: readonly (JsonValue | undefined)[]): Fragment[] {
  return annotations.flatMap((annotation): Fragment[] => {
    const citation = readCitation(annotation);
    // Citations of files have no URL.
    if (citation === undefined)
      return isJsonObject(annotation) ? [{ type: 'dropped', what: 'citations of files' }] : [];
    tracked.citations++;
    return [{ type: 'citation', citation }];
  });
}

function readCitation(annotation: JsonValue | undefined): Citation | undefined {
  const url = member<ResponsesAnnotation>(annotation, 'url');
  if (typeof url !== 'string' || url === '') return undefined;
  const title = member<ResponsesAnnotation>(annotation, 'title');
  return {
    url,
    title: typeof title === 'string' ? title : undefined,
    quote: undefined,
    start: offset(member<ResponsesAnnotation>(annotation, 'start_index')),
    end: offset(member<ResponsesAnnotation>(annotation, 'end_index')),
  };
}

function offset(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function readReasoning(item: ResponsesItem, tracked: TrackedItem): Fragment[] {
  const texts = (['summary', 'content'] as const).flatMap((name) =>
    asList(item[name]).flatMap((part, index) => {
      const text = asText(member<ResponsesPart>(part, 'text'));
      // Some vendors stream reasoning as one kind and repeat it as the other.
      return tracked.parts.values().some((known) => missingEnd(text, known.text) === '')
        ? []
        : completeText(tracked, 'reasoning', `${name} ${index}`, text);
    }),
  );
  const encrypted = asText(item.encrypted_content);
  if (encrypted === '' || tracked.hasState) return [...texts, { type: 'break' }];
  tracked.hasState = true;
  return [...texts, { type: 'reasoning_state', kind: 'encrypted', data: `${asText(item.id)}:${encrypted}` }];
}

/** An image arrives whole when its item ends; partial images are drafts of it. */
function readImage(item: ResponsesItem): Fragment[] {
  const data = asText(item.result);
  if (data === '') return [droppedPart('image_generation_call', '')];
  const mediaType = mediaTypeIn(data) ?? `image/${asText(item.output_format) || 'png'}`;
  return [{ type: 'image', source: { type: 'base64', mediaType, data } }];
}

/** True for a call that the client runs: the vendor runs the others itself. */
function isCall(item: ResponsesItem): boolean {
  return Object.hasOwn(callForms, asText(item.type)) && item.execution !== 'server';
}

function nameCall(item: ResponsesItem, tracked: TrackedItem): Fragment[] {
  const form = callForms[asText(item.type)];
  const name = form === 'tool_search' ? toolSearchName : asText(item.name);
  if (tracked.isNamed || name === '') return [];
  tracked.isNamed = true;
  const id = asText(item.call_id) || asText(item.id);
  const namespace = asText(item.namespace);
  return [
    ...readCaller(item),
    {
      type: 'call',
      key: tracked.key,
      ...(id !== '' && { id }),
      name,
      ...(namespace !== '' && { namespace }),
      form,
    },
  ];
}

/** Notes vendor code that waits for a call or continues without it. */
function readCaller(item: ResponsesItem): Fragment[] {
  return [
    ...(member(item.caller, 'type') === 'program' ? [{ type: 'dropped', what: 'caller of tool calls' } as const] : []),
    ...(item.async === true ? [{ type: 'dropped', what: 'async of tool calls' } as const] : []),
  ];
}

/** A call without a name cannot end yet: its complete item has both name and input. */
function endInput(tracked: TrackedItem, input: JsonValue | undefined): Fragment[] {
  return tracked.isNamed ? [{ type: 'call_end', key: tracked.key, input: asText(input) }] : [];
}

function inputOf(item: ResponsesItem): string {
  const input = item.type === 'custom_tool_call' ? item.input : item.arguments;
  return isJsonObject(input) ? JSON.stringify(input) : asText(input);
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}
