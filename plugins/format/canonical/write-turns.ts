import type { EncodeTarget } from './codec.ts';
import type { Item, Part, ToolCall, ToolResult } from './conversation.ts';
import {
  asReminder,
  type AssistantTurn,
  type DialogueTurn,
  normalizeCalls,
  shownMedia,
  splitAnswer,
  textOf,
  toTurns,
  type UserTurn,
} from './dialogue.ts';
import { showMadeImages } from './made-images.ts';
import { assistantText, isMedia } from './media.ts';
import type { Notes } from './notes.ts';

/** An assistant's turn by kind of item, for formats with one member per kind. Has text, calls or both. */
export interface WrittenAnswer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly thoughts: readonly string[];
  readonly hasReasoning: boolean;
}

/** Writes the messages of a format in which every tool result is a message that holds only text. */
interface MessageWriter<M> {
  system(text: string): M;
  result(result: ToolResult): M;
  user(parts: readonly Part[]): M;
  assistant(answer: WrittenAnswer): M;
}

export function writeAsMessages<M>(
  items: readonly Item[],
  { profile, notes }: EncodeTarget,
  writer: MessageWriter<M>,
): M[] {
  const shown = showMadeImages(items, profile.capabilities.images, notes);
  return toTurns(normalizeCalls(shown)).flatMap((turn): M[] => {
    if (turn.role === 'system') return [writer.system(textOf(turn.parts))];
    if (turn.role === 'user') {
      const input = [...shownMedia(turn.results, notes), ...turn.parts];
      const results = turn.results.map((result) => writer.result(result));
      return input.length === 0 ? results : [...results, writer.user(input)];
    }
    const { parts, ...answer } = splitAnswer(turn);
    const text = textOf(assistantText(parts, notes));
    if (text !== '' || answer.calls.length > 0) return [writer.assistant({ ...answer, text })];
    notes.drop('reasoning without an answer');
    return [];
  });
}

/** A message with everything that one side says until the other side answers. */
interface WrittenTurn<Block> {
  readonly role: string;
  readonly content: Block[];
}

/** Writes the blocks of a format in which the user begins, both sides alternate, and no message is empty. */
interface BlockWriter<Block> {
  readonly assistantRole: string;
  assistant(turn: AssistantTurn): Block[];
  /** Blocks for the user's parts; none for an empty text. */
  input(parts: readonly Part[]): Block[];
  /** @param moved media that the result cannot hold: they are placed after all results */
  result(result: ToolResult, moved: readonly Part[]): Block;
  holdsMedia(result: ToolResult): boolean;
  /** Whether the format accepts a system message at this point; otherwise it becomes a user message. */
  takesSystem?(last: string | undefined, next: DialogueTurn | undefined): boolean;
}

/** First user message for a conversation that does not begin with one. */
const opening = 'Begin.';

export function writeAlternating<Block>(
  turns: readonly DialogueTurn[],
  { notes }: EncodeTarget,
  writer: BlockWriter<Block>,
): WrittenTurn<Block>[] {
  const written: WrittenTurn<Block>[] = [];
  const push = (role: string, content: Block[]): void => {
    const last = written.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) written.push({ role, content: [...content] });
  };
  for (const [index, turn] of turns.entries()) {
    if (turn.role === 'user') push('user', writeUser(turn, notes, writer));
    else if (turn.role === 'assistant') push(writer.assistantRole, writer.assistant(turn));
    else {
      const text = textOf(turn.parts);
      if (text.trim() === '') continue;
      const isTaken = writer.takesSystem?.(written.at(-1)?.role, turns[index + 1]) === true;
      if (!isTaken) notes.approximate('late system message as user message');
      push(isTaken ? 'system' : 'user', writer.input([{ type: 'text', text: isTaken ? text : asReminder(text) }]));
    }
  }
  if (written[0]?.role !== 'user') {
    notes.approximate('a conversation without a user at its beginning');
    written.unshift({ role: 'user', content: writer.input([{ type: 'text', text: opening }]) });
  }
  return written;
}

function writeUser<Block>({ results, parts }: UserTurn, notes: Notes, writer: BlockWriter<Block>): Block[] {
  const shown: Part[] = [];
  const content = results.map((result) => {
    const moved = writer.holdsMedia(result) ? [] : result.parts.filter(isMedia);
    if (moved.length > 0) notes.approximate('images in tool results as user message');
    shown.push(...moved);
    return writer.result(result, moved);
  });
  return [...content, ...writer.input([...shown, ...parts])];
}
