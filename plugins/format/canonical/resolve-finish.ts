import type { FinishReason } from './reply.ts';

/** The content decides, not only the reported reason: some vendors report `stop` for calls, and the reverse. */
export function resolveFinish(reported: FinishReason | undefined, hasCalls: boolean): FinishReason {
  if (hasCalls && (reported === undefined || reported === 'stop' || reported === 'stop_sequence')) return 'tool_calls';
  if (!hasCalls && reported === 'tool_calls') return 'stop';
  return reported ?? 'stop';
}
