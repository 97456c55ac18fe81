import type { Answer, AnswerBlock, Result, Tool } from '../conformance/conversation.ts';

export const turns = 38;
/** Turns from one word of the user to the next; the others have results of tools. */
const loop = 6;
/** The turn with more parallel calls than a breakpoint of Anthropic looks back over. */
const parallelTurn = 14;
const parallelCalls = 12;
/** The turn before which the user is away for longer than some caches live, in seconds. */
const idleTurn = 25;
const idleFor = 400;

/** What a client sends in a turn, and what the model answers. */
export interface Turn {
  readonly text: string | undefined;
  readonly results: readonly Result[];
  readonly answer: Omit<Answer, 'usage'>;
  readonly isStream: boolean;
  /** Seconds since the turn before. */
  readonly after: number;
}

const words = 'the build reads every file of the project and prints what it has found in them line by line ';

/** A text of about so many characters. */
function prose(seed: string, length: number): string {
  return `${seed}: ${words.repeat(Math.ceil(length / words.length)).slice(0, length)}`;
}

export const system = prose('You are an agent that mends programs', 18_000);

export const tools: readonly Tool[] = ['read_file', 'write_file', 'run', 'search', 'list_files'].map((name) => ({
  name,
  description: prose(`The tool ${name}`, 700),
  schema: {
    type: 'object',
    properties: { path: { type: 'string', description: 'A path.' }, lines: { type: 'integer', minimum: 1 } },
    required: ['path'],
  },
}));

/** @param conversation number, from which all ids follow */
export function turnOf(conversation: number, index: number): Turn {
  return {
    text: index % loop === 0 ? prose(`${nameOf(conversation)} asks for step ${index}`, 300) : undefined,
    results: callsOf(conversation, index - 1).map((call) => resultOf(call, index)),
    answer: answerOf(conversation, index),
    isStream: index % 2 === 0,
    after: index === idleTurn ? idleFor : 20,
  };
}

/** A word that only prompts of this conversation have. */
export function nameOf(conversation: number): string {
  return `conversation-${conversation}`;
}

function resultOf({ id }: { readonly id: string }, index: number): Result {
  return {
    type: 'result',
    id,
    text: prose(`result ${id}`, 400 + 90 * (index % 7)),
    ...(index % 9 === 4 && { isError: true }),
  };
}

function answerOf(conversation: number, index: number): Omit<Answer, 'usage'> {
  const calls = callsOf(conversation, index);
  const thought: AnswerBlock[] =
    index % 3 === 0
      ? [{ type: 'thought', text: prose(`thought ${index}`, 120), signature: `c2lnbmF0dXJl${conversation}${index}AA` }]
      : [];
  return {
    blocks: [...thought, { type: 'text', text: prose(`answer ${index}`, 80) }, ...calls],
    end: calls.length === 0 ? 'stop' : 'calls',
  };
}

type Call = AnswerBlock & { readonly type: 'call' };

function callsOf(conversation: number, index: number): Call[] {
  if (index < 0 || index % loop === loop - 1) return [];
  const count = index === parallelTurn ? parallelCalls : index % 4 === 1 ? 2 : 1;
  return Array.from({ length: count }, (_, number): Call => ({
    type: 'call',
    id: `call_${conversation}_${index}_${number}`,
    name: tools[(index + number) % tools.length]?.name ?? '',
    input: { path: `src/${index}/${number}.ts`, lines: index + 1 },
  }));
}
