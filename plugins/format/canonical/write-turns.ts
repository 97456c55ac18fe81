import type { EncodeTarget } from './codec.ts';
import type { Item, Part, ToolCall, ToolResult } from './conversation.ts';
import {
  writeReminder,
  type AssistantTurn,
  type DialogueTurn,
  normalizeCalls,
  joinTexts,
  groupIntoTurns,
  type UserTurn,
} from './dialogue.ts';
import { moveGeneratedImages } from './generated-images.ts';
import { dropAssistantMedia, isMedia } from './media.ts';
import type { Notes } from './notes.ts';

/** An assistant turn split by kind of item, for formats with one member per kind. It has text, calls or both. */
export interface SplitTurn {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly reasoningTexts: readonly string[];
  readonly hasReasoning: boolean;
}

/** Writes the messages of a format whose tool results are separate messages that hold only text. */
interface MessageWriter<M> {
  system(text: string): M;
  result(result: ToolResult): M;
  user(parts: readonly Part[]): M;
  assistant(answer: SplitTurn): M;
}

export function writeAsMessages<M>(
  items: readonly Item[],
  { profile, notes }: EncodeTarget,
  writer: MessageWriter<M>,
): M[] {
  const movedItems = moveGeneratedImages(items, profile.capabilities.images, notes);
  return groupIntoTurns(normalizeCalls(movedItems)).flatMap((turn): M[] => {
    if (turn.role === 'system') return [writer.system(joinTexts(turn.parts))];
    if (turn.role === 'user') {
      const input = [...collectResultMedia(turn.results, notes), ...turn.parts];
      const results = turn.results.map((result) => writer.result(result));
      return input.length === 0 ? results : [...results, writer.user(input)];
    }
    const parts = turn.items.flatMap((item) => (item.type === 'message' ? item.parts : []));
    const text = joinTexts(dropAssistantMedia(parts, notes));
    const calls = turn.items.filter((item) => item.type === 'tool_call');
    const reasoning = turn.items.filter((item) => item.type === 'reasoning');
    const reasoningTexts = reasoning.map((item) => item.text).filter((thought) => thought !== '');
    if (text !== '' || calls.length > 0)
      return [writer.assistant({ text, calls, reasoningTexts, hasReasoning: reasoning.length > 0 })];
    notes.drop('reasoning without an answer');
    return [];
  });
}

interface WrittenTurn<Block> {
  readonly role: string;
  readonly content: Block[];
}

/** Writes the blocks of a format that requires alternating sides, with the user first and no empty message. */
interface BlockWriter<Block> {
  readonly assistantRole: string;
  assistant(turn: AssistantTurn): Block[];
  /** An empty text yields no block. */
  input(parts: readonly Part[]): Block[];
  /** @param moved media that the result cannot hold; they follow all results */
  result(result: ToolResult, moved: readonly Part[]): Block;
  canHoldMedia(result: ToolResult): boolean;
  /** True if the format accepts a system message at this point. Otherwise the message becomes a user message. */
  acceptsSystem?(lastRole: string | undefined, next: DialogueTurn | undefined): boolean;
}

const firstUserText = 'Begin.';

export function writeAlternatingTurns<Block>(
  turns: readonly DialogueTurn[],
  { notes }: EncodeTarget,
  writer: BlockWriter<Block>,
): WrittenTurn<Block>[] {
  const messages: WrittenTurn<Block>[] = [];
  const append = (role: string, content: Block[]): void => {
    const lastMessage = messages.at(-1);
    if (lastMessage?.role === role) lastMessage.content.push(...content);
    else if (content.length > 0) messages.push({ role, content: [...content] });
  };
  const appendSystem = (text: string, next: DialogueTurn | undefined): void => {
    if (text.trim() === '') return;
    if (writer.acceptsSystem?.(messages.at(-1)?.role, next) === true) {
      append('system', writer.input([{ type: 'text', text }]));
      return;
    }
    notes.approximate('late system message as user message');
    append('user', writer.input([{ type: 'text', text: writeReminder(text) }]));
  };
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'user') append('user', writeUserTurn(turn, notes, writer));
    else if (turn.role === 'assistant') append(writer.assistantRole, writer.assistant(turn));
    else appendSystem(joinTexts(turn.parts), turns[index + 1]);
  }
  if (messages[0]?.role !== 'user') {
    notes.approximate('conversation that does not begin with a user message');
    messages.unshift({ role: 'user', content: writer.input([{ type: 'text', text: firstUserText }]) });
  }
  return messages;
}

function writeUserTurn<Block>({ results, parts }: UserTurn, notes: Notes, writer: BlockWriter<Block>): Block[] {
  const allMoved: Part[] = [];
  const content = results.map((result) => {
    const movedMedia = writer.canHoldMedia(result) ? [] : collectResultMedia([result], notes);
    allMoved.push(...movedMedia);
    return writer.result(result, movedMedia);
  });
  return [...content, ...writer.input([...allMoved, ...parts])];
}

function collectResultMedia(results: readonly ToolResult[], notes: Notes): Part[] {
  const media = results.flatMap(({ parts }) => parts.filter(isMedia));
  if (media.length > 0) notes.approximate('images in tool results as user message');
  return media;
}
