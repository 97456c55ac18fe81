import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import type { ToolForm } from '../../../canonical/conversation.ts';
import { detectImageType } from '../../../canonical/generated-images.ts';
import {
  type Citation,
  droppedAudio,
  createDroppedPart,
  type Fragment,
  charactersPerBlock,
  toTextFragments,
} from '../../../canonical/reply.ts';
import { asList, asText, asCount, asFilledText, readMember, scalarToNumber } from '../../../wire/members.ts';
import type { ResponsesAnnotation, ResponsesEvent, ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import { toolSearchName } from '../request/read-tools.ts';
import { readInputText } from './repair-item.ts';
import { type TextPartKind, findEventPartKind } from './text-parts.ts';

const callForms: Readonly<Record<string, ToolForm>> = {
  function_call: 'function',
  custom_tool_call: 'freeform',
  tool_search_call: 'tool_search',
};

interface ItemState {
  readonly key: number;
  hasName: boolean;
  hasCitations: boolean;
  lastKind: TextPartKind | undefined;
  lastPartIndex: JsonValue | undefined;
}

/** Reads repaired events about items and their parts. In these, each text and each input arrives once, in deltas. */
export class ItemFragments {
  readonly #items = new Map<JsonValue | undefined, ItemState>();
  #latestIndex: JsonValue | undefined;

  /** @param isFromFinalResponse true for an event derived from the final response */
  read(event: ResponsesEvent, isFromFinalResponse = false): Fragment[] {
    const { type, item, output_index: index } = event;
    const state = this.#items.get(index) ?? this.#addItem(index);
    const name = asText(type);
    const kind = findEventPartKind(name);
    if (kind !== undefined) return name.endsWith('.delta') ? readText(state, kind, event) : [];
    switch (name) {
      case 'response.output_item.added':
        this.#latestIndex = index;
        return isJsonObject(item) && isClientCall(item)
          ? openCall(item, state)
          : [{ type: 'held', characters: charactersPerBlock }, { type: 'break' }];
      case 'response.output_item.done':
        return isJsonObject(item)
          ? readFinishedItem(item, state, isFromFinalResponse && index !== this.#latestIndex)
          : [];
      case 'response.output_text.annotation.added':
        return readCitations(state, [event.annotation]);
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return [{ type: 'input', key: state.key, text: asText(event.delta) }];
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        // A call without a name cannot end yet.
        return state.hasName ? [{ type: 'call_end', key: state.key }] : [];
      default:
        return name.startsWith('response.audio.') ? [droppedAudio] : [];
    }
  }

  #addItem(index: JsonValue | undefined): ItemState {
    const state = {
      key: scalarToNumber(index),
      hasName: false,
      hasCitations: false,
      lastKind: undefined,
      lastPartIndex: undefined,
    };
    this.#items.set(index, state);
    return state;
  }
}

function readText(state: ItemState, kind: TextPartKind, event: ResponsesEvent): Fragment[] {
  const { fragmentType, index } = kind;
  const text = asText(event.delta);
  const logprobs = fragmentType === 'text' ? asList(event.logprobs).filter(isJsonObject) : [];
  // The text is empty if the tokens are only the first bytes of a character.
  if (text === '') return logprobs.length === 0 ? [] : [{ type: 'text', text, logprobs }];
  const fragment: Fragment = logprobs.length > 0 ? { type: 'text', text, logprobs } : { type: fragmentType, text };
  const { lastKind: previousKind, lastPartIndex: previousIndex } = state;
  if (previousKind?.list === kind.list && previousIndex === event[index]) return [fragment];
  state.lastKind = kind;
  state.lastPartIndex = event[index];
  const heldFragment: Fragment = { type: 'held', characters: charactersPerBlock };
  if (previousKind === undefined) return [heldFragment, fragment];
  // Parts of reasoning are paragraphs of a single text. Parts of a message are separate texts.
  return fragmentType === 'reasoning'
    ? [heldFragment, { type: fragmentType, text: `\n\n${text}` }]
    : [heldFragment, { type: 'break' }, fragment];
}

/** @param isLate true if other items have followed, so the state can no longer be placed with its reasoning */
function readFinishedItem(item: ResponsesItem, state: ItemState, isLate: boolean): Fragment[] {
  if (isClientCall(item))
    return [...openCall(item, state), { type: 'call_end', key: state.key, input: readInput(item) }];
  switch (item.type) {
    case 'message': {
      const parts = asList(item.content);
      // Parts of unknown types have no deltas.
      const text =
        state.lastKind === undefined
          ? parts.map((part) => asText(readMember<ResponsesPart>(part, 'text'))).join('')
          : '';
      // Citations are only added if the message has none yet.
      const annotations = state.hasCitations
        ? []
        : parts.flatMap((part) => asList(readMember<ResponsesPart>(part, 'annotations')));
      return [
        ...toTextFragments('text', text),
        ...readCitations(state, annotations),
        { type: 'break', isParagraph: true },
      ];
    }
    case 'reasoning': {
      const encrypted = asText(item.encrypted_content);
      if (encrypted === '' || isLate) return [{ type: 'break' }];
      return [{ type: 'reasoning_state', kind: 'encrypted', data: `${asText(item.id)}:${encrypted}` }];
    }
    case 'image_generation_call':
      return readImage(item);
    default:
      // If an unknown item's text arrived in deltas, the item is not dropped.
      return state.lastKind === undefined ? [createDroppedPart(asText(item.type), 'unknown items')] : [];
  }
}

function readCitations(state: ItemState, annotations: readonly (JsonValue | undefined)[]): Fragment[] {
  return annotations.flatMap((annotation): Fragment[] => {
    const citation = readCitation(annotation);
    // Citations of files have no URL.
    if (citation === undefined)
      return isJsonObject(annotation) ? [{ type: 'dropped', feature: 'citations of files' }] : [];
    state.hasCitations = true;
    return [{ type: 'citation', citation }];
  });
}

function readCitation(annotation: JsonValue | undefined): Citation | undefined {
  const url = asFilledText(readMember<ResponsesAnnotation>(annotation, 'url'));
  const title = readMember<ResponsesAnnotation>(annotation, 'title');
  return url === undefined
    ? undefined
    : {
        url,
        title: typeof title === 'string' ? title : undefined,
        quote: undefined,
        start: readOffset(readMember<ResponsesAnnotation>(annotation, 'start_index')),
        end: readOffset(readMember<ResponsesAnnotation>(annotation, 'end_index')),
      };
}

function readOffset(value: JsonValue | undefined): number | undefined {
  return Number.isInteger(value) ? asCount(value) : undefined;
}

/** Partial images are drafts; the image is complete once its item is done. */
function readImage(item: ResponsesItem): Fragment[] {
  const data = asText(item.result);
  if (data === '') return [createDroppedPart('image_generation_call', '')];
  const mediaType = detectImageType(data) ?? `image/${asText(item.output_format) || 'png'}`;
  return [{ type: 'image', source: { type: 'base64', mediaType, data } }];
}

function isClientCall(item: ResponsesItem): boolean {
  return Object.hasOwn(callForms, asText(item.type)) && item.execution !== 'server';
}

function openCall(item: ResponsesItem, state: ItemState): Fragment[] {
  const form = callForms[asText(item.type)];
  const name = form === 'tool_search' ? toolSearchName : asText(item.name);
  if (state.hasName || name === '') return [];
  state.hasName = true;
  const id = asText(item.call_id) || asText(item.id);
  const namespace = asText(item.namespace);
  return [
    ...readCaller(item),
    {
      type: 'call',
      key: state.key,
      ...(id !== '' && { id }),
      name,
      ...(namespace !== '' && { namespace }),
      form,
    },
  ];
}

function readCaller(item: ResponsesItem): Fragment[] {
  return [
    ...(readMember(item.caller, 'type') === 'program'
      ? [{ type: 'dropped', feature: 'caller of tool calls' } as const]
      : []),
    ...(item.async === true ? [{ type: 'dropped', feature: 'async of tool calls' } as const] : []),
  ];
}

function readInput(item: ResponsesItem): string {
  return readInputText(item.type === 'custom_tool_call' ? item.input : item.arguments);
}
