import type { Profile } from '#core/catalog/profile.ts';

/** True when the vendor wants the reasoning of an assistant's message back. */
export function wantsReasoning({ capabilities, quirks }: Profile, hasCalls: boolean): boolean {
  const { replay_reasoning: when } = quirks;
  return capabilities.reasoning && (when === 'always' || (when === 'tool_turns' && hasCalls));
}
