import { CallIds } from './call-ids.ts';
import type { Conversation, Item, Message, Part, Reasoning, ToolCall, ToolResult } from './conversation.ts';
import { isMedia } from './media.ts';
import type { Notes } from './notes.ts';

/** One side's turn, for formats that group messages into turns. */
export type DialogueTurn = AssistantTurn | UserTurn | SystemTurn;

export interface AssistantTurn {
  readonly role: 'assistant';
  /** Reasoning, text and calls, in their original order. */
  readonly items: (Message | Reasoning | ToolCall)[];
}

export interface UserTurn {
  readonly role: 'user';
  /** Results of the previous turn's calls, in the order of the calls. They precede `parts`. */
  readonly results: ToolResult[];
  readonly parts: Part[];
}

interface SystemTurn {
  readonly role: 'system';
  readonly parts: Part[];
}

/**
 * Pairs calls and results, which every vendor requires. A client's history may break the pairs: cancelled turns leave calls without
 * results, compaction leaves results without calls, messages separate the two, and ids repeat.
 *
 * - Every call gets a unique id, see `CallIds`.
 * - The results of a run of calls follow it directly, in the order of the calls; items in between are moved after them.
 * - A call without a result gets a placeholder.
 * - A result without a call becomes a user message.
 */
export function normalizeCalls(items: readonly Item[]): Item[] {
  const { identifiedItems, results } = identifyCalls(items);
  const pairedItems: Item[] = [];
  let run: ToolCall[] = [];
  const closeRun = () => {
    for (const { id } of run) pairedItems.push(results.get(id) ?? createMissingResult(id));
    run = [];
  };
  for (const item of identifiedItems) {
    // Reasoning between two calls of a run belongs to the run.
    if (item.type === 'message' || item.type === 'tool_result') closeRun();
    if (item.type === 'tool_call') run.push(item);
    if (item.type !== 'tool_result') pairedItems.push(item);
  }
  closeRun();
  return pairedItems;
}

function identifyCalls(items: readonly Item[]): { identifiedItems: Item[]; results: Map<string, ToolResult> } {
  const ids = new CallIds();
  const results = new Map<string, ToolResult>();
  const identifiedItems: Item[] = [];
  for (const item of items) {
    if (item.type === 'message' && item.role !== 'assistant') ids.endTurn();
    const id = item.type === 'tool_result' ? ids.matchResult(item.id) : undefined;
    if (item.type === 'tool_call') identifiedItems.push(withId(item, ids.addCall(item.id, item.name)));
    else if (item.type !== 'tool_result') identifiedItems.push(item);
    else if (id === undefined) identifiedItems.push(...toUserMessage(item));
    else {
      const result = withId(item, id);
      if (!results.has(id)) results.set(id, result);
      identifiedItems.push(result);
    }
  }
  return { identifiedItems, results };
}

function withId<I extends ToolCall | ToolResult>(item: I, id: string): I {
  return item.id === id ? item : { ...item, id };
}

function createMissingResult(id: string): ToolResult {
  return {
    type: 'tool_result',
    id,
    parts: [{ type: 'text', text: 'No result: the call was not executed.' }],
    isError: true,
  };
}

function toUserMessage({ parts }: ToolResult): Item[] {
  return parts.length === 0 ? [] : [{ type: 'message', role: 'user', parts }];
}

/** Combines adjacent items of the same side. Expects items from `normalizeCalls`. */
export function groupIntoTurns(items: readonly Item[]): DialogueTurn[] {
  const turns: DialogueTurn[] = [];
  for (const item of items) {
    if (item.type === 'tool_result') openUserTurn(turns).results.push(item);
    else if (item.type === 'message' && item.role === 'user') openUserTurn(turns).parts.push(...item.parts);
    else if (item.type === 'message' && item.role === 'system') turns.push({ role: 'system', parts: [...item.parts] });
    else openAssistantTurn(turns).items.push(item);
  }
  return turns;
}

function openUserTurn(turns: DialogueTurn[]): UserTurn {
  const lastTurn = turns.at(-1);
  if (lastTurn?.role === 'user') return lastTurn;
  const turn: UserTurn = { role: 'user', results: [], parts: [] };
  turns.push(turn);
  return turn;
}

function openAssistantTurn(turns: DialogueTurn[]): AssistantTurn {
  const lastTurn = turns.at(-1);
  if (lastTurn?.role === 'assistant') return lastTurn;
  const turn: AssistantTurn = { role: 'assistant', items: [] };
  turns.push(turn);
  return turn;
}

/** Writes a tool result as text, for formats whose results have no media or error flag. Never empty, because some vendors refuse that. */
export function writeResultText({ parts, isError }: ToolResult): string {
  const hint = parts.some(isMedia) ? ['Media from this tool follows in a message.'] : [];
  const text = [joinTexts(parts), ...hint].filter((section) => section !== '').join('\n\n') || '(no output)';
  return isError ? `Error: ${text}` : text;
}

/** Notes a prefilled answer, for vendors whose models do not continue one. */
export function notePrefill(items: readonly Item[], notes: Notes): void {
  const lastItem = items.at(-1);
  if (lastItem?.type === 'message' && lastItem.role === 'assistant')
    notes.approximate('prefilled answer as an earlier one');
}

/** Wraps a system message as text for a user message, for formats without system messages inside the dialogue. */
export function writeReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

export function joinTexts(parts: readonly Part[]): string {
  const texts = parts.filter((part) => !isMedia(part));
  return texts.map(({ text }) => text).join('\n\n');
}

export function joinAllInstructions({ instructions }: Pick<Conversation, 'instructions'>, appended = ''): string {
  return [instructions.join('\n\n'), appended].filter((text) => text !== '').join('\n\n');
}
