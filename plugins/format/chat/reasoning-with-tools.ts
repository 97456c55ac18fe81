import type { Profile } from '#core/catalog/profile.ts';
import type { Notes } from '../canonical/notes.ts';

/**
 * True for models that refuse tools on their Chat endpoint as soon as they think, and think unless told not to. Whoever
 * offers another endpoint is asked there. Source: openai-openapi#541.
 */
export function refusesToolsWithReasoning({ capabilities, quirks }: Profile): boolean {
  return quirks.responses_for_tools && capabilities.tools && capabilities.reasoning;
}

/** Tools without thoughts serve most who ask for both. */
export function noteReasoningDropped(notes: Notes): void {
  notes.drop('reasoning: not beside tools there');
}
