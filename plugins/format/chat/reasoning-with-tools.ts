import type { Profile } from '#core/catalog/profile.ts';
import type { Notes } from '../canonical/notes.ts';

/**
 * True for models that refuse tools on their Chat endpoint while they reason, which they do by default. Upstreams with
 * a Responses endpoint are asked there. Source: openai-openapi#541.
 */
export function refusesToolsWithReasoning({ capabilities, quirks }: Profile): boolean {
  return quirks.responses_for_tools && capabilities.tools && capabilities.reasoning;
}

/** Most requests for both need the tools more than the reasoning. */
export function noteReasoningDropped(notes: Notes): void {
  notes.drop('reasoning: not supported together with tools');
}
