import { toPlainId } from '../../../canonical/call-ids.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type {
  Part,
  Reasoning,
  ToolCall,
  ToolResult,
  FilePart,
  ImagePart,
  Source,
} from '../../../canonical/conversation.ts';
import type { DialogueTurn } from '../../../canonical/dialogue.ts';
import { detectImageType } from '../../../canonical/generated-images.ts';
import {
  dropAssistantMedia,
  checkImageType,
  decodeTextFile,
  createUnsupportedContentError,
  readUploadedId,
} from '../../../canonical/media.ts';
import { toObjectInput } from '../../../canonical/tools.ts';
import { writeAlternatingTurns } from '../../../canonical/write-turns.ts';
import type { Editable } from '../../../wire/loose.ts';
import type { MessagesBlock, MessagesMessage, MessagesSource } from '../../../wire/messages.ts';
import { recordBreakpoint } from './cache-breakpoints.ts';

/**
 * Writes turns as messages. The endpoint requires that the first message is the user's, that tool results come first in the turn after
 * their calls, and that no block is empty.
 *
 * Source: Anthropic API reference, "Messages".
 */
export function writeMessages(turns: readonly DialogueTurn[], target: EncodeTarget): MessagesMessage[] {
  const messages = writeAlternatingTurns<MessagesBlock>(turns, target, {
    assistantRole: 'assistant',
    assistant: ({ items }) =>
      items.flatMap((item) => {
        if (item.type === 'message') return writeOutput(item.parts, target);
        return item.type === 'reasoning' ? writeReasoning(item, target) : [writeCall(item, target)];
      }),
    input: (parts) => writeInput(parts, target),
    result: (result, movedParts) => writeResult(result, movedParts, target),
    // Errors can only be text.
    canHoldMedia: ({ isError }) => target.profile.quirks.tool_result_images && !isError,
    acceptsSystem: (lastRole, next) => lastRole === 'user' && (next === undefined || next.role === 'assistant'),
  });
  const lastMessage = messages.at(-1);
  if (lastMessage?.role === 'assistant') trimLastText(lastMessage.content);
  return messages.map(({ role, content }) => ({ role, content }));
}

/** An upstream that checks signatures would reject other upstreams' state in every later request. */
function writeReasoning(
  { text, state }: Reasoning,
  { findAcceptedState, profile, notes }: EncodeTarget,
): MessagesBlock[] {
  const stateData = findAcceptedState(state);
  if (stateData === undefined || stateData === '') {
    if (text !== '' && !profile.quirks.signed_thinking) return [{ type: 'thinking', thinking: text, signature: '' }];
    notes.drop('reasoning of earlier turns');
    return [];
  }
  if (state?.kind === 'redacted') return [{ type: 'redacted_thinking', data: stateData }];
  return [{ type: 'thinking', thinking: text, signature: stateData }];
}

function writeCall(call: ToolCall, { names, notes }: EncodeTarget): MessagesBlock {
  return {
    type: 'tool_use',
    id: toPlainId(call.id),
    name: names.toWire(call.name, call.namespace),
    input: toObjectInput(call, notes),
  };
}

function writeResult(result: ToolResult, movedParts: readonly Part[], target: EncodeTarget): MessagesBlock {
  const { id, parts, isError } = result;
  const remainingParts = movedParts.length === 0 ? parts : parts.filter((part) => !movedParts.includes(part));
  const content = writeInput(remainingParts, target);
  if (content.length === 0 && movedParts.length > 0) content.push(...writeText('Media from this tool follows.'));
  if (content.length === 0 && isError) content.push(...writeText('Error without a message.'));
  const block: Editable<MessagesBlock> = { type: 'tool_result', tool_use_id: toPlainId(id) };
  if (content.length > 0) block.content = content;
  if (isError) block.is_error = true;
  return parts.reduce<MessagesBlock>(recordBreakpoint, block);
}

function trimLastText(content: MessagesBlock[]): void {
  const lastBlock = content.at(-1);
  // Anthropic rejects white space at the end of a prefilled answer.
  if (lastBlock?.type === 'text')
    content[content.length - 1] = { ...lastBlock, text: String(lastBlock.text).trimEnd() };
}

/** @throws GatewayError `unsupported_content` for media that the model does not accept */
function writeInput(parts: readonly Part[], target: EncodeTarget): MessagesBlock[] {
  return parts.flatMap((part) => {
    switch (part.type) {
      case 'image':
        return [writeImage(part, target, part)];
      case 'file':
        return writeFile(part, target);
      case 'audio':
        throw createUnsupportedContentError('audio', part);
      case 'video':
        throw createUnsupportedContentError('videos', part);
      default:
        return writeText(part.text).map((block) => recordBreakpoint(block, part));
    }
  });
}

function writeOutput(parts: readonly Part[], { notes }: Pick<EncodeTarget, 'notes'>): MessagesBlock[] {
  return dropAssistantMedia(parts, notes).flatMap((part) =>
    writeText(part.text).map((block) => recordBreakpoint(block, part)),
  );
}

function writeText(text: string): MessagesBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function writeImage({ source, detail }: ImagePart, { profile, notes }: EncodeTarget, clientPart: Part): MessagesBlock {
  if (!profile.capabilities.images) throw createUnsupportedContentError('images', clientPart);
  checkImageType(source, 'common', clientPart);
  if (detail !== undefined && detail !== 'auto') notes.drop('image detail');
  if (source.type !== 'base64') return { type: 'image', source: writeSource(source, clientPart) };
  // Anthropic rejects a wrong media type.
  const mediaType = detectImageType(source.data) ?? source.mediaType;
  return { type: 'image', source: writeSource({ ...source, mediaType }, clientPart) };
}

function writeSource(source: Source, clientPart: Part): MessagesSource {
  switch (source.type) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data };
    case 'url':
      return { type: 'url', url: source.url };
    case 'id':
      return { type: 'file', file_id: readUploadedId(source, 'anthropic', clientPart) };
  }
}

function writeFile(file: FilePart, target: EncodeTarget): MessagesBlock[] {
  const { source, name } = file;
  const content = decodeTextFile(source);
  const { files } = target.profile.capabilities;
  // For models without file support, text files are sent as text.
  if (content !== undefined && !files) return writeText([name, content].filter(Boolean).join('\n\n'));
  if (!files) throw createUnsupportedContentError('files', file);
  if (content !== undefined && content.trim() === '') return [];
  const title = name === undefined || name === '' ? {} : { title: name };
  if (content !== undefined) {
    return [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: content }, ...title }];
  }
  if (source.type === 'base64' && source.mediaType.startsWith('image/')) {
    return [writeImage({ type: 'image', source, detail: undefined }, target, file)];
  }
  if (source.type === 'base64' && source.mediaType !== 'application/pdf') {
    throw createUnsupportedContentError(`files of type ${source.mediaType}`, file);
  }
  return [{ type: 'document', source: writeSource(source, file), ...title }];
}
