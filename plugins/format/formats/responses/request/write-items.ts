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
import { normalizeCalls, joinTexts } from '../../../canonical/dialogue.ts';
import { moveGeneratedImages } from '../../../canonical/generated-images.ts';
import {
  writeDataUrl,
  dropAssistantMedia,
  checkImageType,
  createFileName,
  createUnsupportedContentError,
  readUploadedId,
} from '../../../canonical/media.ts';
import { shortenId, writeAudio } from '../../../canonical/openai.ts';
import type { Editable } from '../../../wire/loose.ts';
import { parseInput } from '../../../wire/members.ts';
import type { ResponsesItem, ResponsesPart } from '../../../wire/responses.ts';
import { supportsFreeformTools, writeToolName } from './write-tools.ts';

/** Writes a conversation's items. Source: OpenAI API reference, "Responses", input items. */
export function writeItems(items: readonly Item[], target: EncodeTarget): ResponsesItem[] {
  const writer = new ItemWriter(target);
  const normalizedItems = normalizeCalls(moveGeneratedImages(items, target.profile.capabilities.images, target.notes));
  for (const [index, item] of normalizedItems.entries()) {
    if (item.type !== 'tool_result') writer.writeImages();
    // OpenAI rejects reasoning that no message or call follows.
    if (item.type === 'reasoning' && !precedesOutput(normalizedItems, index))
      target.notes.drop('reasoning without an answer');
    else writer.write(item);
  }
  writer.writeImages();
  return writer.items;
}

function precedesOutput(items: readonly Item[], index: number): boolean {
  let nextItem = items[index + 1];
  for (let after = index + 2; nextItem?.type === 'reasoning'; after++) nextItem = items[after];
  return nextItem?.type === 'tool_call' || (nextItem?.type === 'message' && nextItem.role === 'assistant');
}

class ItemWriter {
  readonly items: ResponsesItem[] = [];
  readonly #target: EncodeTarget;
  readonly #callForms = new Map<string, ToolForm>();
  /** Images from tool results that cannot hold them; sent in a user message after all results. */
  #images: Part[] = [];

  constructor(target: EncodeTarget) {
    this.#target = target;
  }

  write(item: Item): void {
    if (item.type === 'message') this.#writeMessage(item);
    else if (item.type === 'reasoning') this.#writeReasoning(item);
    else if (item.type === 'tool_call') this.items.push(this.#writeCall(item));
    else this.items.push(this.#writeResult(item));
  }

  writeImages(): void {
    if (this.#images.length === 0) return;
    this.#pushMessage('user', writeInput(this.#images, this.#target));
    this.#images = [];
  }

  #pushMessage(role: string, content: ResponsesPart[]): void {
    if (content.length > 0) this.items.push({ type: 'message', role, content });
  }

  #writeMessage({ role, parts }: Message): void {
    if (role === 'assistant') this.#pushMessage(role, writeOutput(parts, this.#target));
    else if (role === 'user') this.#pushMessage(role, writeInput(parts, this.#target));
    else this.#pushMessage('developer', writeInput(parts, this.#target));
  }

  #writeReasoning({ text, state }: Reasoning): void {
    const { notes, profile } = this.#target;
    const isAccepted = state?.kind === 'encrypted' && profile.capabilities.reasoning;
    const stateData = isAccepted ? this.#target.findAcceptedState(state) : undefined;
    // An upstream that stores nothing cannot resolve reasoning without its state.
    if (stateData === undefined) return notes.drop('reasoning of earlier turns');
    const colon = stateData.indexOf(':');
    const id = stateData.slice(0, Math.max(colon, 0));
    this.items.push({
      type: 'reasoning',
      ...(id !== '' && { id }),
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      encrypted_content: stateData.slice(colon + 1),
    });
  }

  #writeCall(call: ToolCall): ResponsesItem {
    this.#callForms.set(call.id, call.form);
    const [call_id, name] = [shortenId(call.id), writeToolName(call, this.#target)];
    const supportsAllForms = supportsFreeformTools(this.#target);
    if (supportsAllForms && call.form === 'tool_search')
      return { type: 'tool_search_call', call_id, execution: 'client', arguments: parseInput(call.input) ?? {} };
    const isCustom = supportsAllForms && call.form === 'freeform';
    const item: Editable<ResponsesItem> = { type: isCustom ? 'custom_tool_call' : 'function_call', call_id, name };
    if (supportsAllForms && call.namespace !== undefined) item.namespace = call.namespace;
    if (isCustom) item.input = call.input;
    else
      item.arguments =
        call.form === 'freeform' ? JSON.stringify({ input: call.input }) : defaultToEmptyObject(call.input);
    return item;
  }

  #writeResult(result: ToolResult): ResponsesItem {
    const call_id = shortenId(result.id);
    const form = supportsFreeformTools(this.#target) ? this.#callForms.get(result.id) : 'function';
    // The tools that were found are already in the request.
    if (form === 'tool_search') return { type: 'tool_search_output', call_id, execution: 'client', tools: [] };
    const type = form === 'freeform' ? 'custom_tool_call_output' : 'function_call_output';
    return { type, call_id, output: this.#writeOutput(result) };
  }

  #writeOutput({ parts, isError }: ToolResult): string | ResponsesPart[] {
    // The format has no error flag.
    const markedParts: readonly Part[] = isError ? [{ type: 'text', text: 'Error:' }, ...parts] : parts;
    const isText = parts.every(({ type }) => type === 'text' || type === 'refusal');
    if (isText) return isError ? `Error: ${joinTexts(parts)}` : joinTexts(parts);
    if (this.#target.profile.quirks.tool_result_images) return writeInput(markedParts, this.#target);
    this.#target.notes.approximate('images in tool results as user message');
    this.#images.push(...parts.filter(({ type }) => type !== 'text' && type !== 'refusal'));
    return [joinTexts(markedParts), 'Media from this tool follows in a message.'].filter(Boolean).join('\n\n');
  }
}

function defaultToEmptyObject(input: string): string {
  return input.trim() === '' ? '{}' : input;
}

const imageDetails = new Set(['low', 'high', 'auto', 'original']);

/** @throws GatewayError `unsupported_content` for media that the model does not accept */
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
        throw createUnsupportedContentError('videos', part);
      default:
        return { type: 'input_text', text: part.text };
    }
  });
}

function writeOutput(parts: readonly Part[], { notes }: Pick<EncodeTarget, 'notes'>): ResponsesPart[] {
  return dropAssistantMedia(parts, notes).map(({ type, text }) =>
    type === 'text' ? { type: 'output_text', text, annotations: [] } : { type, refusal: text },
  );
}

function writeImage(image: ImagePart, { profile, notes }: EncodeTarget): ResponsesPart {
  const { source, detail } = image;
  if (!profile.capabilities.images) throw createUnsupportedContentError('images', image);
  checkImageType(source, profile.quirks.betas ? 'common' : 'any', image);
  const detailMember = detail !== undefined && imageDetails.has(detail) ? { detail } : {};
  if (detail !== undefined && !imageDetails.has(detail)) notes.drop('image detail');
  if (source.type === 'id')
    return { type: 'input_image', file_id: readUploadedId(source, 'openai', image), ...detailMember };
  const url = source.type === 'url' ? source.url : writeDataUrl(source);
  return { type: 'input_image', image_url: url, ...detailMember };
}

function writeFile(file: FilePart, { profile }: EncodeTarget): ResponsesPart {
  const { source, name } = file;
  if (!profile.capabilities.files) throw createUnsupportedContentError('files', file);
  if (source.type === 'id') return { type: 'input_file', file_id: readUploadedId(source, 'openai', file) };
  if (source.type === 'url') return { type: 'input_file', file_url: source.url };
  return { type: 'input_file', filename: name ?? createFileName(source.mediaType), file_data: writeDataUrl(source) };
}
