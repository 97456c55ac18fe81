import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ToolForm } from '../../../canonical/conversation.ts';
import { mediaTypeIn } from '../../../canonical/made-images.ts';
import {
  type Citation,
  droppedAudio,
  droppedPart,
  type Fragment,
  perBlock,
  textFragment,
} from '../../../canonical/reply.ts';
import { asList, asText, count, filledText, member, scalarNumber } from '../../../wire/members.ts';
import { toolSearchName } from '../request/read-tools.ts';
import { inputText } from './repair-item.ts';
import { type StreamedText, textPartOfEvent } from './text-parts.ts';
import type { ResponsesAnnotation, ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';

const callForms: Readonly<Record<string, ToolForm>> = {
  function_call: 'function',
  custom_tool_call: 'freeform',
  tool_search_call: 'tool_search',
};

/** What has been read of an item. */
interface ReadItem {
  readonly key: number;
  /** True once the call has a name and can take its input. */
  isNamed: boolean;
  isCited: boolean;
  /** Kind and index of the last part with text. */
  kind: StreamedText | undefined;
  part: JsonValue | undefined;
}

/** Reads repaired events about items and their parts, in which each text and each input arrives once, in deltas. */
export class ItemFragments {
  readonly #items = new Map<JsonValue | undefined, ReadItem>();
  #latest: JsonValue | undefined;

  /**
   * Empty for an unknown event.
   *
   * @param isOfEnd true for an event that only the end of the reply has brought
   */
  read(event: ResponsesEvent, isOfEnd = false): Fragment[] {
    const { type, item, output_index: index } = event;
    const read = this.#items.get(index) ?? this.#begin(index);
    const name = asText(type);
    const text = textPartOfEvent(name);
    if (text !== undefined) return name.endsWith('.delta') ? readText(read, text, event) : [];
    switch (name) {
      case 'response.output_item.added':
        this.#latest = index;
        return isJsonObject(item) && isCall(item)
          ? nameCall(item, read)
          : [{ type: 'held', characters: perBlock }, { type: 'break' }];
      case 'response.output_item.done':
        return isJsonObject(item) ? readDone(item, read, isOfEnd && index !== this.#latest) : [];
      case 'response.output_text.annotation.added':
        return cite(read, [event.annotation]);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return [{ type: 'input', key: read.key, text: asText(event.delta) }];
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        // A call without a name cannot end yet.
        return read.isNamed ? [{ type: 'call_end', key: read.key }] : [];
      default:
        return name.startsWith('response.audio.') ? [droppedAudio] : [];
    }
  }

  #begin(index: JsonValue | undefined): ReadItem {
    const read = { key: scalarNumber(index), isNamed: false, isCited: false, kind: undefined, part: undefined };
    this.#items.set(index, read);
    return read;
  }
}

/** The text is empty if the tokens are only the first bytes of a character. */
function readText(read: ReadItem, kind: StreamedText, event: ResponsesEvent): Fragment[] {
  const { says, index } = kind;
  const text = asText(event.delta);
  const logprobs = says === 'text' ? asList(event.logprobs).filter(isJsonObject) : [];
  if (text === '') return logprobs.length === 0 ? [] : [{ type: 'text', text, logprobs }];
  const piece: Fragment = logprobs.length > 0 ? { type: 'text', text, logprobs } : { type: says, text };
  const { kind: before, part } = read;
  if (before?.list === kind.list && part === event[index]) return [piece];
  read.kind = kind;
  read.part = event[index];
  const held: Fragment = { type: 'held', characters: perBlock };
  if (before === undefined) return [held, piece];
  // Parts of reasoning are paragraphs of one text; parts of a message are separate.
  return says === 'reasoning' ? [held, { type: says, text: `\n\n${text}` }] : [held, { type: 'break' }, piece];
}

/** @param isLate true if other items have followed, so that the state can no longer be placed with its reasoning */
function readDone(item: ResponsesItem, read: ReadItem, isLate: boolean): Fragment[] {
  if (isCall(item)) return [...nameCall(item, read), { type: 'call_end', key: read.key, input: inputOf(item) }];
  switch (item.type) {
    case 'message': {
      const parts = asList(item.content);
      // Parts of unknown types have no deltas.
      const text =
        read.kind === undefined ? parts.map((part) => asText(member<ResponsesPart>(part, 'text'))).join('') : '';
      // Citations are added only if the message has none yet.
      const annotations = read.isCited
        ? []
        : parts.flatMap((part) => asList(member<ResponsesPart>(part, 'annotations')));
      return [...textFragment('text', text), ...cite(read, annotations), { type: 'break', isParagraph: true }];
    }
    case 'reasoning': {
      const encrypted = asText(item.encrypted_content);
      if (encrypted === '' || isLate) return [{ type: 'break' }];
      return [{ type: 'reasoning_state', kind: 'encrypted', data: `${asText(item.id)}:${encrypted}` }];
    }
    case 'image_generation_call':
      return readImage(item);
    default:
      // An unknown item is not dropped if its text arrived in deltas.
      return read.kind === undefined ? [droppedPart(asText(item.type), 'unknown items')] : [];
  }
}

function cite(read: ReadItem, annotations: readonly (JsonValue | undefined)[]): Fragment[] {
  return annotations.flatMap((annotation): Fragment[] => {
    const citation = readCitation(annotation);
    // Citations of files have no URL.
    if (citation === undefined)
      return isJsonObject(annotation) ? [{ type: 'dropped', what: 'citations of files' }] : [];
    read.isCited = true;
    return [{ type: 'citation', citation }];
  });
}

function readCitation(annotation: JsonValue | undefined): Citation | undefined {
  const url = filledText(member<ResponsesAnnotation>(annotation, 'url'));
  const title = member<ResponsesAnnotation>(annotation, 'title');
  return url === undefined
    ? undefined
    : {
        url,
        title: typeof title === 'string' ? title : undefined,
        quote: undefined,
        start: offset(member<ResponsesAnnotation>(annotation, 'start_index')),
        end: offset(member<ResponsesAnnotation>(annotation, 'end_index')),
      };
}

function offset(value: JsonValue | undefined): number | undefined {
  return Number.isInteger(value) ? count(value) : undefined;
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

function nameCall(item: ResponsesItem, read: ReadItem): Fragment[] {
  const form = callForms[asText(item.type)];
  const name = form === 'tool_search' ? toolSearchName : asText(item.name);
  if (read.isNamed || name === '') return [];
  read.isNamed = true;
  const id = asText(item.call_id) || asText(item.id);
  const namespace = asText(item.namespace);
  return [
    ...readCaller(item),
    {
      type: 'call',
      key: read.key,
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

function inputOf(item: ResponsesItem): string {
  return inputText(item.type === 'custom_tool_call' ? item.input : item.arguments);
}
