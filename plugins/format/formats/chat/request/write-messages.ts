import { hash } from 'node:crypto';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { FilePart, ImagePart, Item, Part, ToolCall, VideoPart } from '../../../canonical/conversation.ts';
import { writeResultText } from '../../../canonical/dialogue.ts';
import {
  checkImageType,
  createFileName,
  createUnsupportedContentError,
  readUploadedId,
  writeDataUrl,
} from '../../../canonical/media.ts';
import { writeAudio } from '../../../canonical/openai.ts';
import { requiresReasoning } from '../../../canonical/reasoning.ts';
import { writeAsMessages, type SplitTurn } from '../../../canonical/write-turns.ts';
import type { ChatCall, ChatMessage, ChatPart } from '../../../wire/chat.ts';
import type { Editable } from '../../../wire/loose.ts';
import { maxCallIdLength } from './call-ids.ts';
import { placeReasoning, acceptsReasoning } from './place-reasoning.ts';
import { reasoningSeparator } from './read-reasoning.ts';
import { isSentFreeform } from './write-tools.ts';

/**
 * Writes the dialogue as messages. Sources: OpenAI API reference, "Create chat completion", `messages`; for the reasoning that vendors
 * expect back, the API references of DeepSeek, Moonshot and MiniMax.
 *
 * @throws GatewayError `not_supported`
 */
export function writeMessages(items: readonly Item[], target: EncodeTarget): ChatMessage[] {
  return writeAsMessages<ChatMessage>(items, target, {
    system: (content) => ({ role: 'developer', content }),
    result: (result) => ({ role: 'tool', tool_call_id: shortenCallId(result.id), content: writeResultText(result) }),
    user: (parts) => ({ role: 'user', content: writeContent(parts, target) }),
    assistant: (answer) => writeAssistant(answer, target),
  });
}

function writeAssistant(
  { text, calls, reasoningTexts: thoughts, hasReasoning }: SplitTurn,
  target: EncodeTarget,
): ChatMessage {
  const replayedReasoning = joinReplayedReasoning(thoughts, calls.length > 0, target);
  if (replayedReasoning === undefined && hasReasoning) target.notes.drop('reasoning of earlier turns');
  const message: Editable<ChatMessage> = { role: 'assistant', content: text === '' ? null : text };
  if (calls.length > 0) message.tool_calls = calls.map((call) => writeCall(call, target));
  return replayedReasoning === undefined ? message : placeReasoning(message, replayedReasoning, target.profile);
}

/** Returns undefined if the vendor does not accept reasoning. Lost reasoning becomes empty text if the vendor requires the member. */
function joinReplayedReasoning(
  thoughts: readonly string[],
  hasCalls: boolean,
  { profile }: EncodeTarget,
): string | undefined {
  const isSent = acceptsReasoning(profile, hasCalls) && (thoughts.length > 0 || requiresReasoning(profile, hasCalls));
  return isSent ? thoughts.join(reasoningSeparator) : undefined;
}

function writeCall(call: ToolCall, target: EncodeTarget): ChatCall {
  const id = shortenCallId(call.id);
  const name = target.names.toWire(call.name, call.namespace);
  if (isSentFreeform(call.form, target)) return { id, type: 'custom', custom: { name, input: call.input } };
  const input = call.form === 'freeform' ? JSON.stringify({ input: call.input }) : call.input;
  return { id, type: 'function', function: { name, arguments: input.trim() === '' ? '{}' : input } };
}

function shortenCallId(id: string): string {
  // Deterministic, so that prompt caches hit.
  return id.length <= maxCallIdLength ? id : hash('sha256', id).slice(0, maxCallIdLength);
}

const chatDetails = new Map([
  ['auto', 'auto'],
  ['low', 'low'],
  ['high', 'high'],
  ['original', 'high'], // exists only in Responses
]);

/** @throws GatewayError `unsupported_content` for media that the model does not accept */
function writeContent(parts: readonly Part[], target: EncodeTarget): string | ChatPart[] {
  const chatParts = parts.map((part) => writePart(part, target));
  const [only, ...others] = chatParts;
  return others.length === 0 && only?.type === 'text' && typeof only.text === 'string' ? only.text : chatParts;
}

function writePart(part: Part, target: EncodeTarget): ChatPart {
  switch (part.type) {
    case 'image':
      return writeImage(part, target);
    case 'file':
      return writeFile(part, target);
    case 'audio':
      return writeAudio(part, target);
    case 'video':
      return writeVideo(part, target);
    default:
      return { type: 'text', text: part.text };
  }
}

function writeImage(image: ImagePart, { profile, notes }: EncodeTarget): ChatPart {
  const { source, detail } = image;
  if (!profile.capabilities.images) throw createUnsupportedContentError('images', image);
  checkImageType(source, profile.quirks.betas ? 'common' : 'any', image);
  if (source.type === 'id') throw createUnsupportedContentError('images by file id', image);
  const chatDetail = detail === undefined ? undefined : chatDetails.get(detail);
  if (chatDetail !== detail) notes.approximate('image detail');
  const url = source.type === 'url' ? source.url : writeDataUrl(source);
  return { type: 'image_url', image_url: { url, ...(chatDetail !== undefined && { detail: chatDetail }) } };
}

function writeFile(file: FilePart, { profile, notes }: EncodeTarget): ChatPart {
  const { source, name } = file;
  if (source.type === 'base64' && source.mediaType.startsWith('text/')) {
    notes.approximate('text files as text');
    return { type: 'text', text: addTitle(name, Buffer.from(source.data, 'base64').toString()) };
  }
  if (!profile.capabilities.files) throw createUnsupportedContentError('files', file);
  if (source.type === 'url') throw createUnsupportedContentError('file URLs', file);
  if (source.type === 'id') return { type: 'file', file: { file_id: readUploadedId(source, 'openai', file) } };
  const filename = name ?? createFileName(source.mediaType);
  return { type: 'file', file: { filename, file_data: writeDataUrl(source) } };
}

function addTitle(name: string | undefined, text: string): string {
  // The title keeps the text from being empty.
  return `${name ?? 'document'}:\n${text}`;
}

function writeVideo(video: VideoPart, { profile }: EncodeTarget): ChatPart {
  const { source } = video;
  if (!profile.capabilities.video) throw createUnsupportedContentError('videos', video);
  if (source.type === 'id') throw createUnsupportedContentError('videos by file id', video);
  // Other vendors share this form; OpenAI's format has none.
  return { type: 'video_url', video_url: { url: source.type === 'url' ? source.url : writeDataUrl(source) } };
}
