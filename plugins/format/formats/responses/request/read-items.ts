import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonValue } from '#core/platform/json.ts';
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
import { CallMatcher } from '../../../canonical/call-matcher.ts';
import { textOf } from '../../../canonical/dialogue.ts';
import { type Notes, refuseUnread } from '../../../canonical/notes.ts';
import { readTaggedState } from '../../../canonical/opaque-state.ts';
import { isClientTool } from '../../../canonical/tool-names.ts';
import {
  invalid,
  isMissing,
  maybeList,
  maybeObject,
  maybeText,
  readFilled,
  readObject,
  readText,
} from '../../../wire/read.ts';
import { ToolReader, toolSearchName } from './read-tools.ts';
import type {
  ResponsesItem,
  ResponsesPart,
  ResponsesReasoningOptions,
  ResponsesTextOptions,
} from '../../../wire/responses.ts';
import { mediaTypeIn } from '../../../canonical/made-images.ts';
import { placeParts, standardBase64, textPart } from '../../../canonical/media.ts';
import {
  endsCached,
  hasBreakpoint,
  readAudio,
  readContentParts,
  readFilePart,
  readOutputFormat,
  readUrl,
  refusalPart,
} from '../../../canonical/openai.ts';
import { readEffort } from '../../../canonical/reasoning.ts';

/**
 * Reads the items of a request. System messages at the beginning become instructions, tools in items join the others.
 * Source: OpenAI API reference, "Responses", input items; `additional_tools` was observed with Codex.
 */
export class ItemReader {
  readonly instructions: string[] = [];
  readonly items: Item[] = [];
  areInstructionsCached: true | undefined;
  /** Settings that items of the history have changed. An output format that is undefined is plain text. */
  updated: Readonly<Partial<Pick<Conversation, 'output'>>> & { readonly effort?: Effort } = {};
  readonly #tools: ToolReader;
  readonly #notes: Notes;
  readonly #calls = new CallMatcher();

  constructor(tools: ToolReader, notes: Notes) {
    this.#tools = tools;
    this.#notes = notes;
  }

  /** @throws GatewayError `invalid_request`, `previous_response_not_found` */
  read(input: JsonValue | undefined): void {
    if (typeof input === 'string') {
      if (input !== '') this.#say('user', [{ type: 'text', text: input }]);
      return;
    }
    if (!Array.isArray(input)) throw invalid('input', 'a string or a list of items');
    let count = 0;
    let type = '';
    for (const [index, entry] of input.entries()) {
      const path = `input[${index}]`;
      const item: ResponsesItem = readObject(entry, path);
      count = this.items.length;
      type = readType(item, path);
      this.#item(type, item, path);
    }
    if (this.items.length === 0) refuseUnread('input[', this.#notes);
    else if (this.items.length === count && !madeByModel.test(type))
      refuseUnread(`input[${input.length - 1}]`, this.#notes);
  }

  #item(type: string, item: ResponsesItem, path: string): void {
    switch (type) {
      case 'message':
        return this.#message(item, path);
      case 'reasoning':
        return this.#reasoning(item, path);
      case 'function_call':
        return this.#call(item, path, 'function', maybeText(item.arguments, `${path}.arguments`) || '{}');
      case 'custom_tool_call':
        return this.#call(item, path, 'freeform', maybeText(item.input, `${path}.input`) ?? '');
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.#result(item, path, readContent(item.output, `${path}.output`, this.#notes));
      case 'image_generation_call':
        return this.#image(item, path);
      case 'tool_search_call':
        return this.#search(item, path);
      case 'tool_search_output':
        return this.#found(item, path);
      case 'additional_tools':
        return this.#tools.add(item.tools, `${path}.tools`);
      case 'item_reference':
        throw responseNotFound(`${path}.id`);
      case 'configuration_update':
        return this.#configure(item, path);
      case 'compaction_trigger':
        // It asks for a summary in place of an answer.
        throw new GatewayError('unsupported_content', `This model does not support input item ${type}.`, {
          param: path,
        });
      default:
        this.#notes.dropPart(`input item ${type}`, path);
    }
  }

  /** Each setting stays in effect until a later item replaces it. */
  #configure(item: ResponsesItem, path: string): void {
    const reasoning: ResponsesReasoningOptions = maybeObject(item.reasoning, `${path}.reasoning`) ?? {};
    const effort = readEffort(reasoning.effort, `${path}.reasoning.effort`);
    if (effort !== undefined) this.updated = { ...this.updated, effort };
    const text: ResponsesTextOptions | undefined = maybeObject(item.text, `${path}.text`);
    if (text === undefined || isMissing(text.format)) return;
    this.updated = { ...this.updated, output: readOutputFormat(text.format, `${path}.text.format`) };
  }

  #message(item: ResponsesItem, path: string): void {
    const role = readRole(item.role, `${path}.role`);
    const parts = readContent(item.content, `${path}.content`, this.#notes);
    if (parts.length === 0) return;
    if (role !== 'system' || this.items.length > 0) return this.#say(role, parts);
    if (endsCached(parts)) this.areInstructionsCached = true;
    const text = textOf(parts);
    if (text !== '') this.instructions.push(text);
    if (parts.some(({ type }) => type !== 'text')) this.#notes.drop('images and files in instructions');
  }

  #say(role: Message['role'], parts: readonly Part[]): void {
    if (role !== 'assistant') this.#calls.endTurn();
    this.items.push({ type: 'message', role, parts });
  }

  /** An image that a model has made. Without its data, only the vendor that made it knows it. */
  #image(item: ResponsesItem, path: string): void {
    const data = maybeText(item.result, `${path}.result`);
    if (data === undefined || data === '') return this.#notes.dropPart('input item image_generation_call', path);
    const mediaType = mediaTypeIn(data) ?? `image/${maybeText(item.output_format, `${path}.output_format`) ?? 'png'}`;
    const source = { type: 'base64', mediaType, data: standardBase64(data, `${path}.result`) } as const;
    this.#say('assistant', placeParts([{ type: 'image', source, detail: undefined }], path));
  }

  #reasoning(item: ResponsesItem, path: string): void {
    const text = [...readTexts(item, 'summary', path), ...readTexts(item, 'content', path)].join('\n\n');
    const encrypted = maybeText(item.encrypted_content, `${path}.encrypted_content`);
    const state: Reasoning['state'] = encrypted === undefined ? undefined : readTaggedState(encrypted);
    if (encrypted !== undefined && state === undefined) this.#notes.drop('encrypted_content of unknown origin');
    if (text !== '' || state !== undefined) this.items.push({ type: 'reasoning', text, state });
  }

  #call(item: ResponsesItem, path: string, form: ToolForm, input: string): void {
    const name = readFilled(item.name, `${path}.name`);
    const namespace = maybeText(item.namespace, `${path}.namespace`);
    const id = this.#calls.call(name, readText(item.call_id, `${path}.call_id`) || undefined);
    this.items.push({ type: 'tool_call', id, name, namespace, form, input });
  }

  #result(item: ResponsesItem, path: string, parts: readonly Part[]): void {
    this.items.push({ type: 'tool_result', id: this.#answered(item, path), parts, isError: false });
  }

  /** Without an id, the name says which call a result belongs to. Source: openai 7.7, `FunctionCallOutput`. */
  #answered(item: ResponsesItem, path: string): string {
    const given = maybeText(item.call_id, `${path}.call_id`) ?? '';
    const name = maybeText(item.name, `${path}.name`);
    if (given === '') return this.#calls.result(name, undefined);
    this.#calls.answer(given);
    return given;
  }

  /** A search without an id was the vendor's own: only its result remains. */
  #search(item: ResponsesItem, path: string): void {
    if (isMissing(item.call_id)) return this.#notes.drop('input item tool_search_call');
    const { arguments: wanted } = item;
    const input = typeof wanted === 'string' ? wanted : JSON.stringify(wanted ?? {});
    this.#call({ ...item, name: toolSearchName }, path, 'tool_search', input || '{}');
  }

  #found(item: ResponsesItem, path: string): void {
    this.#tools.add(item.tools, `${path}.tools`);
    if (isMissing(item.call_id)) return;
    const found = new ToolReader(this.#notes);
    found.add(item.tools, `${path}.tools`);
    const names = found.tools
      .filter(isClientTool)
      .map(({ name, namespace }) => [namespace, name].filter(Boolean).join('.'));
    const text = names.length === 0 ? 'No tools were found.' : `These tools can be called now: ${names.join(', ')}`;
    this.#result(item, path, [{ type: 'text', text }]);
  }
}

/** Items that a client only sends back. The last item of any other type asks for something. */
const madeByModel = /_call$|^(?:compaction|mcp_approval_request|mcp_list_tools)$/;

/** The error for a reference to stored data; the store has resolved all that it could. */
export function responseNotFound(param: string): GatewayError {
  return new GatewayError('previous_response_not_found', `\`${param}\` refers to an item that is not stored.`, {
    param,
  });
}

/** Only messages may leave out the type. */
function readType(item: ResponsesItem, path: string): string {
  if (isMissing(item.type) && !isMissing(item.role)) return 'message';
  return readText(item.type, `${path}.type`);
}

function readRole(value: JsonValue | undefined, path: string): Message['role'] {
  if (value === 'developer' || value === 'system') return 'system';
  if (value === 'user' || value === 'assistant') return value;
  throw invalid(path, 'user, assistant, system or developer');
}

function readTexts(item: ResponsesItem, name: 'summary' | 'content', path: string): string[] {
  return maybeList(item[name], `${path}.${name}`).flatMap((entry, index) => {
    const partPath = `${path}.${name}[${index}]`;
    const part: ResponsesPart = readObject(entry, partPath);
    const text = maybeText(part.text, `${partPath}.text`);
    return text === undefined || text === '' ? [] : [text];
  });
}

/**
 * Reads the content of a message or of a tool result: a string or a list of parts. Parts without text are left out.
 * Source: OpenAI API reference, "Responses", input items.
 *
 * @throws GatewayError `invalid_request`
 */
function readContent(value: JsonValue | undefined, path: string, notes: Notes): Part[] {
  return readContentParts(value, path, (part, partPath) => readPart(part, partPath, notes));
}

function readPart(part: ResponsesPart, path: string, notes: Notes): Part[] {
  const type = readText(part.type, `${path}.type`);
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'summary_text':
    case 'text':
      return textPart(readText(part.text, `${path}.text`), hasBreakpoint(part));
    case 'refusal':
      return refusalPart(readText(part.refusal, `${path}.refusal`));
    case 'input_image':
      return [readImage(part, path)];
    case 'input_file':
      notes.dropMembers(part, ['detail'], 'a file');
      return [readFilePart(part, path, true)];
    case 'input_audio':
      return [readAudio(part.input_audio, `${path}.input_audio`)];
    default:
      notes.dropPart(`content part ${type}`, path);
      return [];
  }
}

function readImage(part: ResponsesPart, path: string): ImagePart {
  const detail = maybeText(part.detail, `${path}.detail`);
  const id = maybeText(part.file_id, `${path}.file_id`);
  const url = maybeText(part.image_url, `${path}.image_url`);
  if (url !== undefined && url !== '') return { type: 'image', source: readUrl(url, `${path}.image_url`), detail };
  if (id !== undefined && id !== '') return { type: 'image', source: { type: 'id', id, vendor: 'openai' }, detail };
  throw invalid(`${path}.image_url`, 'the URL of an image, unless there is a file_id');
}
