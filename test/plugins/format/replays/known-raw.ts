import type { Answer } from './answer.ts';

/** A recording that a same-format route passes on as it came, although clients of the format fail on it. */
export interface RawCase {
  readonly name: string;
  readonly way: 'streamed' | 'whole';
  /** The point of issue 9 that is about it. */
  readonly point: string;
  /** Where a client fails, or what it reads in place of what the sidecar says. */
  readonly today: string | Partial<Answer>;
}

/** Each line holds today. When one no longer does, remove it: its recording is then compared with its sidecar. */
export const knownRaw: readonly RawCase[] = [
  // Pieces that clients cannot read.
  { name: 'chat/mistral-tool-calls', way: 'streamed', point: 'B.2', today: 'a piece of a call has no index' },
  { name: 'chat/moonshot-indexless-calls', way: 'streamed', point: 'B.2', today: 'a piece of a call has no index' },
  { name: 'chat/mistral-magistral', way: 'streamed', point: 'B.2', today: 'the content of a delta is not text' },
  { name: 'chat/mistral-magistral', way: 'whole', point: 'B.2', today: 'the content is not text' },
  { name: 'chat/mistral-references', way: 'streamed', point: 'B.2', today: 'the content of a delta is not text' },
  { name: 'chat/mistral-references', way: 'whole', point: 'B.2', today: 'the content is not text' },
  { name: 'chat/minimax-reasoning-split', way: 'streamed', point: 'B.2', today: 'a choice has no delta' },
  { name: 'chat/minimax-tool-call', way: 'streamed', point: 'B.2', today: 'a choice has no delta' },
  { name: 'chat/minimax-think-tags', way: 'streamed', point: 'B.2', today: 'a choice has no delta' },
  {
    name: 'responses/vllm-reasoning-text',
    way: 'streamed',
    point: 'B.8',
    today: 'unknown event response.reasoning_part.added',
  },
  // Texts that clients read wrongly.
  {
    name: 'chat/minimax-think-tags',
    way: 'whole',
    point: 'B.2',
    today: { text: '<think>\nEasy one.\n</think>\n\nParis.', reasoning: '' },
  },
  {
    name: 'chat/minimax-cumulative-details',
    way: 'streamed',
    point: 'B.2',
    today: { text: 'DoneDone: ab', reasoning: '' },
  },
  // Finish reasons that only the vendor knows.
  ...endsWith('chat/vllm-tool-call', 'stop', ['streamed', 'whole']),
  ...endsWith('chat/mistral-model-length', 'model_length', ['streamed', 'whole']),
  ...endsWith('chat/zhipu-sensitive', 'sensitive', ['streamed', 'whole']),
  ...endsWith('chat/together-text', 'eos', ['streamed', 'whole']),
  // Failures that look like an end.
  ...endsWith('chat/deepseek-insufficient-resource', 'insufficient_system_resource', ['streamed']),
  ...endsWith('chat/zhipu-network-error', 'network_error', ['streamed']),
  ...endsWith('gemini/gemini-malformed-call', 'MALFORMED_FUNCTION_CALL', ['streamed']),
];

export function isKnownRaw(name: string, way: RawCase['way']): boolean {
  return knownRaw.some((one) => one.name === name && one.way === way);
}

function endsWith(name: string, finish: string, ways: readonly RawCase['way'][]): RawCase[] {
  return ways.map((way) => ({ name, way, point: 'B.2', today: { finish, error: undefined } }));
}
