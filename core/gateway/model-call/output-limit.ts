/** How an upstream words its rejection of the requested number of output tokens. */
interface LimitMessage {
  readonly pattern: RegExp;
  /** Returns the maximum output tokens, from the numbers that the pattern captures. */
  toLimit(first: number, second: number): number;
}

const minOutputTokens = 256;

const capturedLimit = (limit: number): number => limit;
/** Returns the remaining context; NaN if too little remains for a useful response. */
const remainingContext = (contextTokens: number, promptTokens: number): number => {
  const remainingTokens = contextTokens - promptTokens;
  return remainingTokens >= minOutputTokens ? remainingTokens : Number.NaN;
};

/**
 * Messages that reject the requested number of output tokens, not the prompt. The first match counts, because later patterns are less specific.
 * Sources: vLLM 0.32 (observed) and earlier, SGLang, TGI, OpenAI, Anthropic, DeepSeek, DashScope, Groq, Gemini (public reports).
 */
const limitMessages: readonly LimitMessage[] = [
  { pattern: /cannot be greater than max_model_len=(?:max_total_tokens=)?(\d+)/, toLimit: capturedLimit },
  {
    pattern: /maximum context length is (\d+) tokens and your request has (\d+) input tokens/,
    toLimit: remainingContext,
  },
  {
    pattern:
      /maximum context length (?:is|of) (\d+) tokens.{0,200}?\b(\d+) (?:tokens )?(?:in|from) (?:the|your) (?:input )?(?:messages|prompt)\b.{0,20}?\b\d+ (?:tokens )?(?:in|for) the completion/s,
    toLimit: remainingContext,
  },
  {
    pattern: /`inputs` tokens \+ `max_new_tokens` must be <= (\d+)\. Given: (\d+) `inputs` tokens/,
    toLimit: remainingContext,
  },
  {
    pattern: /input length and `?max_tokens`? exceed context limit: (\d+) \+ \d+ > (\d+)/,
    toLimit: (promptTokens, contextTokens) => remainingContext(contextTokens, promptTokens),
  },
  { pattern: /max_tokens: \d+ > (\d+), which is the maximum allowed/, toLimit: capturedLimit },
  {
    pattern: /max_(?:completion_|output_)?tokens is too large: \d+\. This model supports at most (\d+)/,
    toLimit: capturedLimit,
  },
  { pattern: /range of max_(?:completion_|output_)?tokens (?:is|should be) \[\d+, ?(\d+)\]/i, toLimit: capturedLimit },
  { pattern: /`?max_(?:completion_)?tokens`? must be less than or equal to `?(\d+)/, toLimit: capturedLimit },
  {
    pattern: /maxOutputTokens value of \d+ but the supported range is from \d+ \(inclusive\) to (\d+) \(exclusive\)/,
    toLimit: (exclusiveEnd) => exclusiveEnd - 1,
  },
];

/**
 * Reads the maximum output tokens from a message that rejects a larger limit. Returns undefined for other messages, and if the prompt
 * leaves too little context.
 */
export function parseOutputLimit(message: string | undefined): number | undefined {
  if (message === undefined) return undefined;
  for (const { pattern, toLimit } of limitMessages) {
    const match = pattern.exec(message);
    if (match === null) continue;
    const tokens = toLimit(Number(match[1]), Number(match[2]));
    return tokens > 0 ? tokens : undefined;
  }
  return undefined;
}
