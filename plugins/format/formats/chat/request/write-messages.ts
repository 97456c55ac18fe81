import { createHash } from 'node:crypto';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Item, Message, Part, ToolCall, ToolResult } from '../../../canonical/conversation.ts';
import { type AssistantTurn, normalizeCalls, textOf, toTurns, type UserTurn } from '../../../canonical/dialogue.ts';
import { isMedia } from '../../../canonical/media.ts';
import { wantsReasoning } from '../../../canonical/reasoning.ts';
import { thoughtSeparator } from './read-reasoning.ts';
import { writeContent, writeOutput } from './write-content.ts';
import { isRaw } from './write-tools.ts';
import type { ChatCall, ChatMessage } from '../../../wire/chat.ts';

/**
 * Writes the dialogue as messages. Source: OpenAI API reference, "Create chat completion", `messages`; which reasoning
 * vendors want back: DeepSeek, Moonshot and MiniMax API references.
 *
 * @throws GatewayError `not_supported`
 */
export function writeMessages(items: readonly Item[], target: EncodeTarget): ChatMessage[] {
  return toTurns(normalizeCalls(items)).flatMap((turn): ChatMessage[] => {
    if (turn.role === 'assistant') return writeAssistant(turn, target);
    if (turn.role === 'user') return writeUser(turn, target);
    return [{ role: 'developer', content: textOf(turn.parts) }];
  });
}

/** Tool results may hold only text: a user message after all results of the run holds the media. */
function writeUser({ results, parts }: UserTurn, target: EncodeTarget): ChatMessage[] {
  const shown = results.flatMap((result) => result.parts.filter(isMedia));
  if (shown.length > 0) target.notes.approximate('images in tool results as user message');
  const said: Part[] = [...shown, ...parts];
  const written = results.map(writeResult);
  if (said.length > 0) written.push({ role: 'user', content: writeContent(said, target) });
  return written;
}

/** The format has no flag for an error, so the text says it. Some vendors refuse an empty text. */
function writeResult({ id, parts, isError }: ToolResult): ChatMessage {
  const hint = parts.some(isMedia) ? ['What this tool has shown follows in a message.'] : [];
  const text = [textOf(parts), ...hint].filter((one) => one !== '').join('\n\n') || '(no output)';
  return { role: 'tool', tool_call_id: wireId(id), content: isError ? `Error: ${text}` : text };
}

function writeAssistant({ items }: AssistantTurn, target: EncodeTarget): ChatMessage[] {
  const said = items.filter((item): item is Message => item.type === 'message').flatMap(({ parts }) => parts);
  const calls = items.filter((item): item is ToolCall => item.type === 'tool_call');
  const thoughts = items.flatMap((item) => (item.type === 'reasoning' && item.text !== '' ? [item.text] : []));
  const text = writeOutput(said, target);
  if (text === '' && calls.length === 0) {
    target.notes.drop('reasoning without an answer');
    return [];
  }
  const replayed = replay(thoughts, calls.length > 0, target);
  if (replayed === undefined && items.some(({ type }) => type === 'reasoning')) {
    target.notes.drop('reasoning of earlier turns');
  }
  return [
    {
      role: 'assistant',
      ...withThoughts(text, replayed, target),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => writeCall(call, target)) }),
    },
  ];
}

/**
 * The reasoning of a message where the vendor wants it back; the empty string when it is lost, because the member is
 * required.
 */
function replay(thoughts: readonly string[], hasCalls: boolean, { profile }: EncodeTarget): string | undefined {
  return wantsReasoning(profile, hasCalls) ? thoughts.join(thoughtSeparator) : undefined;
}

/** A model that reasons inside the text gets it back there. */
function withThoughts(text: string, thoughts: string | undefined, { profile }: EncodeTarget): ChatMessage {
  const { inline_thinking } = profile.quirks;
  const content = text === '' ? null : text;
  if (thoughts === undefined) return { content };
  if (!inline_thinking) return { content, reasoning_content: thoughts };
  return { content: thoughts === '' ? content : inlineThoughts(thoughts) + text };
}

/** Reasoning as a model writes it that reasons inside its text. */
export function inlineThoughts(text: string): string {
  return `<think>\n${text}\n</think>\n\n`;
}

function writeCall(call: ToolCall, target: EncodeTarget): ChatCall {
  const id = wireId(call.id);
  const name = target.names.toWire(call.name, call.namespace);
  if (isRaw(call.form, target)) return { id, type: 'custom', custom: { name, input: call.input } };
  const input = call.form === 'freeform' ? JSON.stringify({ input: call.input }) : call.input;
  return { id, type: 'function', function: { name, arguments: input.trim() === '' ? '{}' : input } };
}

/** OpenAI's limit on this endpoint, in characters; the Responses endpoint accepts more. */
const maxLength = 40;

/** The id of a call on the wire: the same for the same id, so that prompt caches hit. */
export function wireId(id: string): string {
  return id.length <= maxLength ? id : createHash('sha256').update(id).digest('hex').slice(0, maxLength);
}
