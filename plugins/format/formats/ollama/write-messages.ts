import type { EncodeTarget } from '../../canonical/codec.ts';
import type { ImagePart, Item, Message, Part, ToolCall, ToolResult } from '../../canonical/conversation.ts';
import { type AssistantTurn, normalizeCalls, textOf, toTurns, type UserTurn } from '../../canonical/dialogue.ts';
import { assistantText, fileText, isMedia, unsupported } from '../../canonical/media.ts';
import { objectInput } from '../../canonical/tools.ts';
import type { OllamaCall, OllamaMessage } from '../../wire/ollama.ts';

/**
 * Writes the dialogue as messages. Source: Ollama API reference, "Generate a chat message"; docs, "Tool calling",
 * "Thinking", "Vision".
 *
 * @throws GatewayError `unsupported_content`
 */
export function writeMessages(items: readonly Item[], target: EncodeTarget): OllamaMessage[] {
  const names = new Map<string, string>();
  return toTurns(normalizeCalls(items)).flatMap((turn): OllamaMessage[] => {
    if (turn.role === 'system') return [{ role: 'system', content: textOf(turn.parts) }];
    return turn.role === 'user' ? writeUser(turn, names, target) : writeAssistant(turn, names, target);
  });
}

/** Tool results are only text: the user shows the rest when all results of the run have been given. */
function writeUser(
  { results, parts }: UserTurn,
  names: ReadonlyMap<string, string>,
  target: EncodeTarget,
): OllamaMessage[] {
  const shown = results.flatMap((result) => result.parts.filter(isMedia));
  if (shown.length > 0) target.notes.approximate('images in tool results as user message');
  const said = [...shown, ...parts];
  const written = results.map((result) => writeResult(result, names));
  return said.length === 0 ? written : [...written, { role: 'user', ...writeSaid(said, target) }];
}

/** There is no flag for an error: the text says it. */
function writeResult({ id, parts, isError }: ToolResult, names: ReadonlyMap<string, string>): OllamaMessage {
  const hint = parts.some(isMedia) ? ['What this tool has shown follows in a message.'] : [];
  const text = [textOf(parts), ...hint].filter((one) => one !== '').join('\n\n') || '(no output)';
  const content = isError ? `Error: ${text}` : text;
  return { role: 'tool', tool_name: names.get(id) ?? 'unknown', tool_call_id: id, content };
}

function writeSaid(parts: readonly Part[], target: EncodeTarget): OllamaMessage {
  const images = parts.filter((part) => part.type === 'image').map((image) => writeImage(image, target));
  const texts = parts.filter(({ type }) => type !== 'image').map((part) => writeText(part, target));
  const content = texts.filter((text) => text !== '').join('\n\n');
  return images.length === 0 ? { content } : { content, images };
}

function writeImage(image: ImagePart, { profile, notes }: EncodeTarget): string {
  const { source, detail } = image;
  if (!profile.capabilities.images) throw unsupported('images', image);
  if (source.type !== 'base64') throw unsupported('image URLs', image);
  if (detail !== undefined && detail !== 'auto') notes.drop('detail of an image');
  return source.data;
}

function writeText(part: Part, { notes }: EncodeTarget): string {
  if (part.type === 'audio') throw unsupported('audio', part);
  if (part.type !== 'file') return textOf([part]);
  const text = fileText(part.source);
  if (text === undefined) throw unsupported('files', part);
  notes.approximate('text files as text');
  return `${part.name ?? 'document'}:\n${text}`;
}

/** The template of the model decides which reasoning it wants back, so all of it is sent. */
function writeAssistant({ items }: AssistantTurn, names: Map<string, string>, target: EncodeTarget): OllamaMessage[] {
  const said = items.filter((item): item is Message => item.type === 'message').flatMap(({ parts }) => parts);
  const calls = items.filter((item): item is ToolCall => item.type === 'tool_call');
  const thinking = items.flatMap((item) => (item.type === 'reasoning' && item.text !== '' ? [item.text] : []));
  const content = textOf(assistantText(said, target.notes));
  if (content === '' && calls.length === 0) {
    target.notes.drop('reasoning without an answer');
    return [];
  }
  if (thinking.length === 0 && items.some(({ type }) => type === 'reasoning')) {
    target.notes.drop('reasoning of earlier turns');
  }
  return [
    {
      role: 'assistant',
      content,
      ...(thinking.length > 0 && { thinking: thinking.join('\n\n') }),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, names, target)) }),
    },
  ];
}

function writeCall(call: ToolCall, names: Map<string, string>, target: EncodeTarget): OllamaCall {
  const name = target.names.toWire(call.name, call.namespace);
  names.set(call.id, name);
  return { id: call.id, function: { name, arguments: objectInput(call, target.notes) } };
}
