import type { Conversation, Item, Message, Part, Reasoning, ToolCall, ToolResult } from './conversation.ts';

/** One side's turn, for formats that speak in turns. */
export type DialogueTurn = AssistantTurn | UserTurn | SystemTurn;

/** What the model has said. */
export interface AssistantTurn {
  readonly role: 'assistant';
  /** In order: reasoning, text, calls. */
  readonly items: (Message | Reasoning | ToolCall)[];
}

/** What the model is told: results of its calls, and what the user says. */
export interface UserTurn {
  readonly role: 'user';
  /** Of the calls of the turn before, in their order; they come first. */
  readonly results: ToolResult[];
  readonly parts: Part[];
}

/** Instructions in the middle of a conversation. */
export interface SystemTurn {
  readonly role: 'system';
  readonly parts: Part[];
}

/**
 * Brings calls and results together, which every vendor insists on and no client's history always has: cancelled turns
 * leave calls without results, compaction leaves results without calls, and messages slip in between.
 *
 * - The results of a run of calls follow it directly, in the order of the calls; what stood between comes after them.
 * - A call without a result gets one that says so.
 * - A result without a call becomes what a user says.
 */
export function normalizeCalls(items: readonly Item[]): Item[] {
  const results = new Map<string, ToolResult>();
  for (const item of items) if (item.type === 'tool_result' && !results.has(item.id)) results.set(item.id, item);
  const called = new Set<string>();
  const settled: Item[] = [];
  let run: ToolCall[] = [];
  const closeRun = () => {
    for (const { id } of run) settled.push(results.get(id) ?? missingResult(id));
    run = [];
  };
  for (const item of items) {
    if (item.type === 'tool_call') {
      if (called.has(item.id)) continue;
      called.add(item.id);
      run.push(item);
      settled.push(item);
    } else if (item.type === 'tool_result') {
      if (called.has(item.id)) closeRun();
      else settled.push(...orphan(item));
    } else {
      // Reasoning between two calls of a run belongs to the run.
      if (item.type === 'message') closeRun();
      settled.push(item);
    }
  }
  closeRun();
  return settled;
}

function missingResult(id: string): ToolResult {
  return {
    type: 'tool_result',
    id,
    parts: [{ type: 'text', text: 'No result: the call was not carried out.' }],
    isError: true,
  };
}

function orphan({ parts }: ToolResult): Item[] {
  return parts.length === 0 ? [] : [{ type: 'message', role: 'user', parts }];
}

/** Groups settled items into turns; neighbours of the same side become one. */
export function toTurns(items: readonly Item[]): DialogueTurn[] {
  const turns: DialogueTurn[] = [];
  for (const item of items) {
    if (item.type === 'tool_result') userTurn(turns).results.push(item);
    else if (item.type === 'message' && item.role === 'user') userTurn(turns).parts.push(...item.parts);
    else if (item.type === 'message' && item.role === 'system') turns.push({ role: 'system', parts: [...item.parts] });
    else assistantTurn(turns).items.push(item);
  }
  return turns;
}

function userTurn(turns: DialogueTurn[]): UserTurn {
  const last = turns.at(-1);
  if (last?.role === 'user') return last;
  const turn: UserTurn = { role: 'user', results: [], parts: [] };
  turns.push(turn);
  return turn;
}

function assistantTurn(turns: DialogueTurn[]): AssistantTurn {
  const last = turns.at(-1);
  if (last?.role === 'assistant') return last;
  const turn: AssistantTurn = { role: 'assistant', items: [] };
  turns.push(turn);
  return turn;
}

/** How a system message is said where only a user can say it, in its place. */
export function asReminder(text: string): string {
  return `<system-reminder>\n${text}\n</system-reminder>`;
}

/** What parts say in words; pictures and files say nothing. */
export function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? [part.text] : [])).join('\n\n');
}

/** All instructions as one text. */
export function instructionText({ instructions }: Pick<Conversation, 'instructions'>): string {
  return instructions.join('\n\n');
}
