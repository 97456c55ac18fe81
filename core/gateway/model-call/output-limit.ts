interface Wording {
  readonly words: RegExp;
  room(first: number, second: number): number;
}

const most = (limit: number): number => limit;
/** The remaining context. NaN if too little remains for a useful response. */
const windowLess = (window: number, prompt: number): number => {
  const room = window - prompt;
  return room >= minRoomTokens ? room : Number.NaN;
};
const minRoomTokens = 256;

/**
 * Messages that reject the requested number of output tokens, not the prompt. The first match counts, because later patterns are shorter.
 * Sources: vLLM 0.32 (observed) and earlier, SGLang, TGI, OpenAI, Anthropic, DeepSeek, DashScope, Groq, Gemini (public reports).
 */
const wordings: readonly Wording[] = [
  { words: /cannot be greater than max_model_len=(?:max_total_tokens=)?(\d+)/, room: most },
  { words: /maximum context length is (\d+) tokens and your request has (\d+) input tokens/, room: windowLess },
  {
    words:
      /maximum context length (?:is|of) (\d+) tokens.{0,200}?\b(\d+) (?:tokens )?(?:in|from) (?:the|your) (?:input )?(?:messages|prompt)\b.{0,20}?\b\d+ (?:tokens )?(?:in|for) the completion/s,
    room: windowLess,
  },
  {
    words: /`inputs` tokens \+ `max_new_tokens` must be <= (\d+)\. Given: (\d+) `inputs` tokens/,
    room: windowLess,
  },
  {
    words: /input length and `?max_tokens`? exceed context limit: (\d+) \+ \d+ > (\d+)/,
    room: (prompt, window) => windowLess(window, prompt),
  },
  { words: /max_tokens: \d+ > (\d+), which is the maximum allowed/, room: most },
  { words: /max_(?:completion_|output_)?tokens is too large: \d+\. This model supports at most (\d+)/, room: most },
  { words: /range of max_(?:completion_|output_)?tokens (?:is|should be) \[\d+, ?(\d+)\]/i, room: most },
  { words: /`?max_(?:completion_)?tokens`? must be less than or equal to `?(\d+)/, room: most },
  {
    words: /maxOutputTokens value of \d+ but the supported range is from \d+ \(inclusive\) to (\d+) \(exclusive\)/,
    room: (end) => end - 1,
  },
];

/**
 * Returns the maximum output tokens, according to a message that rejects a larger limit.
 *
 * @returns undefined for other messages, and if the prompt leaves no room
 */
export function outputLimitOf(message: string | undefined): number | undefined {
  if (message === undefined) return undefined;
  for (const { words, room } of wordings) {
    const found = words.exec(message);
    if (found === null) continue;
    const tokens = room(Number(found[1]), Number(found[2]));
    return tokens > 0 ? tokens : undefined;
  }
  return undefined;
}
