import type { Block, FinishReason } from './reply.ts';

/** What was said counts more than what the upstream calls it: vendors name calls `stop`, and `stop` calls. */
export function resolveFinish(said: FinishReason | undefined, blocks: readonly Block[]): FinishReason {
  const hasCalls = blocks.some(({ type }) => type === 'tool_call');
  if (hasCalls && (said === undefined || said === 'stop' || said === 'stop_sequence')) return 'tool_calls';
  if (!hasCalls && said === 'tool_calls') return 'stop';
  return said ?? 'stop';
}
