import type { EncodeTarget } from '../../../canonical/codec.ts';
import type {
  Item,
  Message,
  Part,
  Reasoning,
  ToolCall,
  ToolForm,
  ToolResult,
  FilePart,
  ImagePart,
} from '../../../canonical/conversation.ts';
import { normalizeCalls, textOf } from '../../../canonical/dialogue.ts';
import { showMadeImages } from '../../../canonical/made-images.ts';
import { parseInput } from '../../../wire/members.ts';
import { shortenId, writeAudio } from '../../../canonical/openai.ts';
import { supportsFreeformTools, wireName } from './write-tools.ts';
import type { Editable } from '../../../wire/loose.ts';
import type { ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import {
  writeDataUrl,
  assistantText,
  checkImageType,
  fileNameOf,
  unsupported,
  uploadedFile,
} from '../../../canonical/media.ts';

/** Writes the items of a conversation. Source: OpenAI API reference, "Responses", input items. */
export function writeItems(items: readonly Item[], target: EncodeTarget): ResponsesItem[] {
  const writer = new ItemWriter(target);
  const settled = normalizeCalls(showMadeImages(items, target.profile.capabilities.images, target.notes));
  for (const [index, item] of settled.entries()) {
    if (item.type !== 'tool_result') writer.showImages();
    if (item.type === 'reasoning' && !leadsSomewhere(settled, index)) target.notes.drop('reasoning without an answer');
    else writer.write(item);
  }
  writer.showImages();
  return writer.items;
}

/** True if a message or call follows the reasoning; otherwise OpenAI rejects the reasoning. */
function leadsSomewhere(items: readonly Item[], index: number): boolean {
  let next = items[index + 1];
  for (let after = index + 2; next?.type === 'reasoning'; after++) next = items[after];
  return next?.type === 'tool_call' || (next?.type === 'message' && next.role === 'assistant');
}

class ItemWriter {
  readonly items: ResponsesItem[] = [];
  readonly #target: EncodeTarget;
  readonly #forms = new Map<string, ToolForm>();
  /** Images of tool results that cannot hold images; a user message after all results carries them. */
  #images: Part[] = [];

  constructor(target: EncodeTarget) {
    this.#target = target;
  }

  write(item: Item): void {
    if (item.type === 'message') this.#message(item);
    else if (item.type === 'reasoning') this.#reasoning(item);
    else if (item.type === 'tool_call') this.items.push(this.#call(item));
    else this.items.push(this.#result(item));
  }

  showImages(): void {
    if (this.#images.length === 0) return;
    this.#push('user', writeInput(this.#images, this.#target));
    this.#images = [];
  }

  #push(role: string, content: ResponsesPart[]): void {
    if (content.length > 0) this.items.push({ type: 'message', role, content });
  }

  #message({ role, parts }: Message): void {
    if (role === 'assistant') this.#push(role, writeOutput(parts, this.#target));
    else if (role === 'user') this.#push(role, writeInput(parts, this.#target));
    else this.#push('developer', writeInput(parts, this.#target));
  }

  /** An upstream that stores nothing cannot resolve the item without its state. */
  #reasoning({ text, state }: Reasoning): void {
    const { notes, profile } = this.#target;
    const isWelcome = state?.kind === 'encrypted' && profile.capabilities.reasoning;
    const own = isWelcome ? this.#target.ownState(state) : undefined;
    if (own === undefined) return notes.drop('reasoning of earlier turns');
    const colon = own.indexOf(':');
    const id = own.slice(0, Math.max(colon, 0));
    this.items.push({
      type: 'reasoning',
      ...(id !== '' && { id }),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: own.slice(colon + 1),
    });
  }

  #call(call: ToolCall): ResponsesItem {
    this.#forms.set(call.id, call.form);
    const [call_id, name] = [shortenId(call.id), wireName(call, this.#target)];
    const isNative = supportsFreeformTools(this.#target);
    if (isNative && call.form === 'tool_search')
      return { type: 'tool_search_call', call_id, execution: 'client', arguments: parseInput(call.input) ?? {} };
    const isCustom = isNative && call.form === 'freeform';
    const item: Editable<ResponsesItem> = { type: isCustom ? 'custom_tool_call' : 'function_call', call_id, name };
    if (isNative && call.namespace !== undefined) item.namespace = call.namespace;
    if (isCustom) item.input = call.input;
    else item.arguments = call.form === 'freeform' ? JSON.stringify({ input: call.input }) : filled(call.input);
    return item;
  }

  #result(result: ToolResult): ResponsesItem {
    const call_id = shortenId(result.id);
    const form = supportsFreeformTools(this.#target) ? this.#forms.get(result.id) : 'function';
    // The found tools are already in the request.
    if (form === 'tool_search') return { type: 'tool_search_output', call_id, execution: 'client', tools: [] };
    const type = form === 'freeform' ? 'custom_tool_call_output' : 'function_call_output';
    return { type, call_id, output: this.#output(result) };
  }

  /** The format has no error flag, so the text marks an error. */
  #output({ parts, isError }: ToolResult): string | ResponsesPart[] {
    const marked: readonly Part[] = isError ? [{ type: 'text', text: 'Error:' }, ...parts] : parts;
    const isText = parts.every(({ type }) => type === 'text' || type === 'refusal');
    if (isText) return isError ? `Error: ${textOf(parts)}` : textOf(parts);
    if (this.#target.profile.quirks.tool_result_images) return writeInput(marked, this.#target);
    this.#target.notes.approximate('images in tool results as user message');
    this.#images.push(...parts.filter(({ type }) => type !== 'text' && type !== 'refusal'));
    return [textOf(marked), 'What this tool has shown follows in a message.'].filter(Boolean).join('\n\n');
  }
}

function filled(input: string): string {
  return input.trim() === '' ? '{}' : input;
}

/** Values of `detail`; other values are rejected. */
const details = new Set(['low', 'high', 'auto', 'original']);

/**
 * Writes parts of a user or a tool.
 *
 * @throws GatewayError `unsupported_content` for media that the model does not accept
 */
function writeInput(parts: readonly Part[], target: EncodeTarget): ResponsesPart[] {
  return parts.map((part) => {
    switch (part.type) {
      case 'image':
        return writeImage(part, target);
      case 'file':
        return writeFile(part, target);
      case 'audio':
        return writeAudio(part, target);
      case 'video':
        throw unsupported('videos', part);
      default:
        return { type: 'input_text', text: part.text };
    }
  });
}

function writeOutput(parts: readonly Part[], { notes }: Pick<EncodeTarget, 'notes'>): ResponsesPart[] {
  return assistantText(parts, notes).map(({ type, text }) =>
    type === 'text' ? { type: 'output_text', text, annotations: [] } : { type, refusal: text },
  );
}

function writeImage(image: ImagePart, { profile, notes }: EncodeTarget): ResponsesPart {
  const { source, detail } = image;
  if (!profile.capabilities.images) throw unsupported('images', image);
  checkImageType(source, profile.quirks.betas, image);
  const closeness = detail !== undefined && details.has(detail) ? { detail } : {};
  if (detail !== undefined && !details.has(detail)) notes.drop('detail of an image');
  if (source.type === 'id')
    return { type: 'input_image', file_id: uploadedFile(source, 'openai', image), ...closeness };
  const url = source.type === 'url' ? source.url : writeDataUrl(source);
  return { type: 'input_image', image_url: url, ...closeness };
}

function writeFile(file: FilePart, { profile }: EncodeTarget): ResponsesPart {
  const { source, name } = file;
  if (!profile.capabilities.files) throw unsupported('files', file);
  if (source.type === 'id') return { type: 'input_file', file_id: uploadedFile(source, 'openai', file) };
  if (source.type === 'url') return { type: 'input_file', file_url: source.url };
  return { type: 'input_file', filename: name ?? fileNameOf(source.mediaType), file_data: writeDataUrl(source) };
}
