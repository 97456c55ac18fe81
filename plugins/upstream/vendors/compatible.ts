/**
 * Endpoints of other vendors for clients of Anthropic: they refuse system messages inside the conversation, which is the
 * default, know thinking with a budget only, and sign none.
 */
export const compatibleMessages = { reasoning: 'budget', signed_thinking: false } as const;
