interface OutputLimitMessage {
  readonly pattern: RegExp;
  computeLimit(first: number, second: number): number; // from the numbers that the pattern captures
}

const minUsefulTokens = 256;

const capturedLimit = (limit: number): number => limit;
const computeRemainingContext = (contextTokens: number, promptTokens: number): number => {
  const remainingTokens = contextTokens - promptTokens;
  return remainingTokens >= minUsefulTokens ? remainingTokens : Number.NaN;
};

/**
 * Messages that reject the requested number of output tokens, not the prompt. The first match counts, because later patterns are less specific.
 * Sources: vLLM 0.32 (observed) and earlier, SGLang, TGI, OpenAI, Anthropic, DeepSeek, DashScope, Groq, Gemini (public reports).
 */
const limitMessages: readonly OutputLimitMessage[] = [
  { pattern: /cannot be greater than max_model_len=(?:max_total_tokens=)?(\d+)/, computeLimit: capturedLimit },
  {
    pattern: /maximum context length is (\d+) tokens and your request has (\d+) input tokens/,
    computeLimit: computeRemainingContext,
  },
  {
    pattern:
      /maximum context length (?:is|of) (\d+) tokens.{0,200}?\b(\d+) (?:tokens )?(?:in|from) (?:the|your) (?:input )?(?:messages|prompt)\b.{0,20}?\b\d+ (?:tokens )?(?:in|for) the completion/s,
    computeLimit: computeRemainingContext,
  },
  {
    pattern: /`inputs` tokens \+ `max_new_tokens` must be <= (\d+)\. Given: (\d+) `inputs` tokens/,
    computeLimit: computeRemainingContext,
  },
  {
    pattern: /input length and `?max_tokens`? exceed context limit: (\d+) \+ \d+ > (\d+)/,
    computeLimit: (promptTokens, contextTokens) => computeRemainingContext(contextTokens, promptTokens),
  },
  { pattern: /max_tokens: \d+ > (\d+), which is the maximum allowed/, computeLimit: capturedLimit },
  {
    pattern: /max_(?:completion_|output_)?tokens is too large: \d+\. This model supports at most (\d+)/,
    computeLimit: capturedLimit,
  },
  {
    pattern: /range of max_(?:completion_|output_)?tokens (?:is|should be) \[\d+, ?(\d+)\]/i,
    computeLimit: capturedLimit,
  },
  { pattern: /`?max_(?:completion_)?tokens`? must be less than or equal to `?(\d+)/, computeLimit: capturedLimit },
  {
    pattern: /maxOutputTokens value of \d+ but the supported range is from \d+ \(inclusive\) to (\d+) \(exclusive\)/,
    computeLimit: (exclusiveEnd) => exclusiveEnd - 1,
  },
];

/** Returns undefined for messages that do not reject the output limit, and if the prompt leaves too little context. */
export function parseOutputLimit(message: string | undefined): number | undefined {
  if (message === undefined) return undefined;
  for (const { pattern, computeLimit } of limitMessages) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const tokens = computeLimit(Number(match[1]), Number(match[2]));
    return tokens > 0 ? tokens : undefined;
  }
  return undefined;
}
