import { GatewayError } from '#core/platform/errors/table.ts';
import { CallMatcher } from '../../../canonical/call-matcher.ts';
import type {
  Conversation,
  Effort,
  Item,
  Message,
  Part,
  Reasoning,
  ToolForm,
  ImagePart,
} from '../../../canonical/conversation.ts';
import { detectImageType } from '../../../canonical/generated-images.ts';
import { placeParts, toStandardBase64, toTextParts } from '../../../canonical/media.ts';
import { type Notes, refuseUnreadMessage } from '../../../canonical/notes.ts';
import { readTaggedState } from '../../../canonical/opaque-state.ts';
import {
  hasBreakpoint,
  readAudio,
  readContentParts,
  readFilePart,
  appendInstructions,
  readOutputFormat,
  readMediaUrl,
  toRefusalParts,
} from '../../../canonical/openai.ts';
import { readEffort } from '../../../canonical/reasoning.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import { invalidValue, BodyObject } from '../../../wire/read.ts';
import type {
  ResponsesItem,
  ResponsesPart,
  ResponsesReasoningOptions,
  ResponsesRequest,
  ResponsesTextOptions,
} from '../../../wire/responses.ts';
import { ToolReader, toolSearchName } from './read-tools.ts';

/** The model creates these items and the client sends them back. A last item of another type needs an answer and must not be dropped. */
const modelItemPattern = /_call$|^(?:compaction|mcp_approval_request|mcp_list_tools)$/;

/**
 * Reads a request's items. System messages at the start become instructions; tools in items are added to the declared ones. Source: OpenAI
 * API reference, "Responses", input items; `additional_tools` was observed with Codex.
 */
export class ItemReader {
  readonly instructions: string[] = [];
  readonly items: Item[] = [];
  areInstructionsCached: true | undefined;
  /** Settings that items of the history change. An undefined output format means plain text. */
  changedSettings: Readonly<Partial<Pick<Conversation, 'output'>>> & { readonly effort?: Effort } = {};
  readonly #tools: ToolReader;
  readonly #notes: Notes;
  readonly #calls = new CallMatcher();

  constructor(tools: ToolReader, notes: Notes) {
    this.#tools = tools;
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request`, `previous_response_not_found` */
  readInput(body: BodyObject<ResponsesRequest>): void {
    const { input } = body.value;
    if (typeof input === 'string') {
      if (input !== '') this.#addMessage('user', [{ type: 'text', text: input }]);
      return;
    }
    if (!Array.isArray(input)) throw invalidValue('input', 'a string or a list of items');
    let countBefore = 0;
    let type = '';
    for (const item of body.objects<ResponsesItem>('input')) {
      countBefore = this.items.length;
      // Only messages may omit the type.
      type = item.isMissing('type') && !item.isMissing('role') ? 'message' : item.text('type');
      this.#readItem(type, item);
    }
    if (this.items.length === 0) refuseUnreadMessage('input[', this.#notes);
    else if (this.items.length === countBefore && !modelItemPattern.test(type))
      refuseUnreadMessage(`input[${input.length - 1}]`, this.#notes);
  }

  #readItem(type: string, item: BodyObject<ResponsesItem>): void {
    switch (type) {
      case 'message':
        return this.#readMessage(item);
      case 'reasoning':
        return this.#readReasoning(item);
      case 'function_call':
        return this.#readCall(item, 'function', item.maybeText('arguments') || '{}');
      case 'custom_tool_call':
        return this.#readCall(item, 'freeform', item.maybeText('input') ?? '');
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#addResult(item, readContent(item, 'output', this.#notes));
      case 'image_generation_call':
        return this.#readImage(item);
      case 'tool_search_call':
        return this.#readSearch(item);
      case 'tool_search_output':
        return this.#readFoundTools(item);
      case 'additional_tools':
        return this.#tools.add(item);
      case 'item_reference':
        throw createUnresolvedReferenceError(item.pathOf('id'));
      case 'configuration_update':
        return this.#readSettings(item);
      case 'compaction_trigger':
        // The item asks for a summary instead of an answer.
        throw new GatewayError('unsupported_content', `This model does not support input item ${type}.`, {
          param: item.path,
        });
      default:
        this.#notes.dropPart(`input item ${type}`, item.path);
    }
  }

  #readSettings(item: BodyObject<ResponsesItem>): void {
    const reasoning = item.maybeObject<ResponsesReasoningOptions>('reasoning');
    const effort = reasoning && readEffort(reasoning, 'effort');
    // A setting stays in effect until a later item replaces it.
    if (effort !== undefined) this.changedSettings = { ...this.changedSettings, effort };
    const text = item.maybeObject<ResponsesTextOptions>('text');
    if (text?.isMissing('format') === false)
      this.changedSettings = { ...this.changedSettings, output: readOutputFormat(text, 'format') };
  }

  #readMessage(item: BodyObject<ResponsesItem>): void {
    const role = readRole(item);
    const parts = readContent(item, 'content', this.#notes);
    if (parts.length === 0) return;
    if (role !== 'system' || this.items.length > 0) this.#addMessage(role, parts);
    else appendInstructions(this, parts, this.#notes);
  }

  #addMessage(role: Message['role'], parts: readonly Part[]): void {
    if (role !== 'assistant') this.#calls.endTurn();
    this.items.push({ type: 'message', role, parts });
  }

  #readImage(item: BodyObject<ResponsesItem>): void {
    const data = item.maybeText('result');
    // Only the vendor that generated the image has its data.
    if (data === undefined || data === '') return this.#notes.dropPart('input item image_generation_call', item.path);
    const mediaType = detectImageType(data) ?? `image/${item.maybeText('output_format') ?? 'png'}`;
    const source = { type: 'base64', mediaType, data: toStandardBase64(data, item.pathOf('result')) } as const;
    this.#addMessage('assistant', placeParts([{ type: 'image', source, detail: undefined }], item));
  }

  #readReasoning(item: BodyObject<ResponsesItem>): void {
    const text = [...readTexts(item, 'summary'), ...readTexts(item, 'content')].join('\n\n');
    const encrypted = item.maybeText('encrypted_content');
    const state: Reasoning['state'] = encrypted === undefined ? undefined : readTaggedState(encrypted);
    if (encrypted !== undefined && state === undefined) this.#notes.drop('encrypted_content of unknown origin');
    if (text !== '' || state !== undefined) this.items.push({ type: 'reasoning', text, state });
  }

  #readCall(item: BodyObject<ResponsesItem>, form: ToolForm, input: string): void {
    const name = item.filledText('name');
    const namespace = item.maybeText('namespace');
    const id = this.#calls.addCall(name, item.text('call_id') || undefined);
    this.items.push({ type: 'tool_call', id, name, namespace, form, input });
  }

  #addResult(item: BodyObject<ResponsesItem>, parts: readonly Part[]): void {
    this.items.push({ type: 'tool_result', id: this.#resolveCallId(item), parts, isError: false });
  }

  #resolveCallId(item: BodyObject<ResponsesItem>): string {
    const callId = item.maybeText('call_id') ?? '';
    const name = item.maybeText('name');
    // Without an id, the call is matched by name. Source: openai 7.7, `FunctionCallOutput`.
    if (callId === '') return this.#calls.matchResult(name, undefined);
    this.#calls.closeCall(callId);
    return callId;
  }

  #readSearch(item: BodyObject<ResponsesItem>): void {
    // The vendor ran a search that has no id, so only its result is kept.
    if (item.isMissing('call_id')) return this.#notes.drop('input item tool_search_call');
    const { arguments: value } = item.value;
    const input = typeof value === 'string' ? value : JSON.stringify(value ?? {});
    this.#readCall(new BodyObject({ ...item.value, name: toolSearchName }, item.path), 'tool_search', input || '{}');
  }

  #readFoundTools(item: BodyObject<ResponsesItem>): void {
    this.#tools.add(item);
    if (item.isMissing('call_id')) return;
    const reader = new ToolReader(this.#notes);
    reader.add(item);
    const names = reader.tools
      .filter(isClientTool)
      .map(({ name, namespace }) => [namespace, name].filter(Boolean).join('.'));
    const text = names.length === 0 ? 'No tools were found.' : `These tools can be called now: ${names.join(', ')}`;
    this.#addResult(item, [{ type: 'text', text }]);
  }
}

/** The store has already resolved all references that it could. */
export function createUnresolvedReferenceError(param: string): GatewayError {
  return new GatewayError('previous_response_not_found', `\`${param}\` refers to an item that is not stored.`, {
    param,
  });
}

function readRole(item: BodyObject<ResponsesItem>): Message['role'] {
  const { role } = item.value;
  if (role === 'developer' || role === 'system') return 'system';
  if (role === 'user' || role === 'assistant') return role;
  throw invalidValue(item.pathOf('role'), 'user, assistant, system or developer');
}

function readTexts(item: BodyObject<ResponsesItem>, name: 'summary' | 'content'): string[] {
  const texts: string[] = [];
  for (const part of item.objects<ResponsesPart>(name)) texts.push(part.maybeText('text') ?? '');
  return texts.filter((text) => text !== '');
}

/** Source: OpenAI API reference, "Responses", input items. */
function readContent(item: BodyObject<ResponsesItem>, name: 'content' | 'output', notes: Notes): Part[] {
  return readContentParts(item, name, (part) => readPart(part, notes));
}

function readPart(part: BodyObject<ResponsesPart>, notes: Notes): Part[] {
  const type = part.text('type');
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'text':
      return toTextParts(part.text('text'), hasBreakpoint(part.value));
    case 'refusal':
      return toRefusalParts(part.text('refusal'));
    case 'input_image':
      return [readImage(part)];
    case 'input_file':
      notes.dropMembers(part.value, ['detail'], 'a file');
      return [readFilePart(part, true)];
    case 'input_audio':
      return [readAudio(part.object(type))];
    default:
      notes.dropPart(`content part ${type}`, part.path);
      return [];
  }
}

function readImage(part: BodyObject<ResponsesPart>): ImagePart {
  const detail = part.maybeText('detail');
  const id = part.maybeText('file_id');
  const url = part.maybeText('image_url');
  if (url) return { type: 'image', source: readMediaUrl(url, part.pathOf('image_url')), detail };
  if (id) return { type: 'image', source: { type: 'id', id, vendor: 'openai' }, detail };
  throw invalidValue(part.pathOf('image_url'), 'an image URL, unless a file_id is given');
}
