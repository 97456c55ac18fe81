import type { ErrorMeaning } from '#core/platform/errors/table.ts';

/**
 * Meanings of an upstream's error. `policy`: it refused the content; another key, and usually another route, refuses it too. `missing`: it
 * may not have the model; with other statuses than 403 and 404, the message may be about a parameter as well.
 */
type WordMeaning = Exclude<ErrorMeaning, 'rejected'> | 'policy' | 'missing';

interface Words {
  readonly words: RegExp;
  readonly vendor: string;
  /** The version in which they were seen first; otherwise where they are published or reported. */
  readonly seen: string;
  /** Where they count; in a message when left out. */
  readonly in?: 'code' | 'code or message';
  /** The preset of the only upstreams for which they count: they say too little. */
  readonly preset?: string;
}

interface Said {
  readonly codes?: ReadonlySet<string>;
  readonly words: readonly Words[];
}

/**
 * How vendors, resellers and servers say what is wrong, where the status does not: servers often send 500 or 501. See docs/upstreams.md.
 * Types and codes mean the same in every message.
 */
const table: Readonly<Record<WordMeaning, Said>> = {
  overflow: {
    codes: new Set(['context_length_exceeded', 'exceed_context_size_error']),
    words: [
      { words: /prompt is too long/i, vendor: 'Anthropic', seen: 'docs' },
      { words: /exceed context limit/i, vendor: 'Anthropic', seen: 'reports' },
      { words: /maximum context length|context (length|window)/i, vendor: 'OpenAI', seen: 'docs' },
      { words: /input token count.*exceed/i, vendor: 'Google', seen: 'docs' },
      { words: /range of input length/i, vendor: 'DashScope', seen: 'reports' },
      { words: /too many (input )?tokens/i, vendor: 'several', seen: 'reports' },
      { words: /exceeds? the available context size/i, vendor: 'llama.cpp', seen: 'b11549' },
      {
        words:
          /larger than the max context size|too large to process\b.{0,40}batch size|context size has been exceeded/i,
        vendor: 'llama.cpp',
        seen: 'source',
      },
      {
        words: /`inputs` (must have less than|tokens \+ `max_new_tokens` must be <=) \d/i,
        vendor: 'TGI',
        seen: 'source',
      },
    ],
  },
  // The limit of output tokens alone: the prompt fits.
  limit: {
    words: [{ words: /cannot be greater than max_model_len/, vendor: 'vLLM', seen: '0.32.0' }],
  },
  key: {
    codes: new Set([
      'authentication_error',
      'billing_error',
      'invalid_api_key',
      'insufficient_quota',
      'billing_hard_limit_reached',
      'billing_not_active',
      'account_deactivated',
      'organization_restricted', // Groq, with 400
    ]),
    words: [
      {
        words: /^(your )?(api key (is )?(not valid|not found|invalid|expired)|(invalid|incorrect) (x-)?api[- ]key)/i,
        vendor: 'several',
        seen: 'reports',
      },
      { words: /^(your )?credit balance is too low/i, vendor: 'Anthropic', seen: 'reports' },
      {
        words: /^(your )?(insufficient|not enough|out of) (balance|credits?|quota|funds)/i,
        vendor: 'DeepSeek, resellers',
        seen: 'reports',
      },
    ],
  },
  capacity: {
    codes: new Set(['UNAVAILABLE', '503', '529']),
    words: [
      { words: /overloaded|\bslow_down\b/i, vendor: 'Anthropic, OpenAI', seen: 'docs', in: 'code' },
      {
        words: /\boverloaded_error|server_is_overloaded|\bslow_down\b/i,
        vendor: 'Anthropic, OpenAI',
        seen: 'docs',
        in: 'code or message',
      },
      {
        words: /\b(currently|temporarily|is) (overloaded|unavailable|busy|at capacity|out of capacity)/i,
        vendor: 'several',
        seen: 'reports',
        in: 'code or message',
      },
      {
        words:
          /no (available|healthy) (channel|account|provider|upstream|server|capacity)|(insufficient|not enough|exceeded) capacity|capacity (exceeded|reached)|负载(已饱和|过高|较高)|(服务|系统|服务器|模型|当前)[^，。]{0,8}(繁忙|过载)/i,
        vendor: 'resellers',
        seen: 'reports',
        in: 'code or message',
      },
      // At the beginning only: later in a sentence the words may be the client's.
      {
        words:
          /^(the |our )?(engine|model|server|service|system)?s?( is| are)?( currently| temporarily| too)* ?(overloaded|busy|at capacity)\b|^we( are|['’]re) (currently )?experiencing high (demand|load|traffic)/i,
        vendor: 'several',
        seen: 'reports',
      },
    ],
  },
  timeout: {
    codes: new Set(['DEADLINE_EXCEEDED', '504']),
    words: [{ words: /^(upstream|gateway) (request )?(timeout|timed out)/i, vendor: 'resellers', seen: 'reports' }],
  },
  throttled: {
    codes: new Set(['rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED', 'rateLimitExceeded', '429']),
    words: [
      {
        words:
          /^(you have )?(rate limit (exceeded|reached)|too many (concurrent )?requests|request was rejected due to rate|concurrency limit (exceeded|reached))|请求(过于|太)?频繁|(速率|频率|并发)[^，。]{0,6}(限制|超限|上限)/i,
        vendor: 'several',
        seen: 'reports',
      },
      { words: /^(you have )?throttlingexception/i, vendor: 'Amazon Bedrock', seen: 'docs' },
      {
        words: /^(you have )?(resource has been exhausted|quota exceeded for (quota )?metric)/i,
        vendor: 'Google',
        seen: 'docs',
      },
    ],
  },
  // A name may contain a period.
  model: {
    codes: new Set(['model_not_found', 'model_not_supported', 'unknown_model']),
    words: [
      {
        words:
          /^[^.]{0,20}\bmodel\b([^.]|\.(?=\S)){0,100}(not exist|not found)|no such model|is not a valid model|model identifier is invalid|^server is pinned to\b/i,
        vendor: 'several',
        seen: 'reports',
      },
    ],
  },
  missing: {
    words: [
      {
        words:
          /\bmodel\b.*(not found|not exist|not supported|not available|no access|not have access)|no such model|have access to model/i,
        vendor: 'several',
        seen: 'reports',
      },
    ],
  },
  policy: {
    codes: new Set([
      'content_policy_violation',
      'content_filter',
      'moderation_blocked',
      'data_inspection_failed',
      'ResponsibleAIPolicyViolation', // Azure
      'bio_policy',
      'cyber_policy',
      'misalignment_policy_violation',
      'image_content_policy_violation',
      '1026', // MiniMax
    ]),
    words: [
      {
        words:
          /\b(input|prompt|request|message|content|image|text)s? (was|were|is|are|has been|have been) (flagged|blocked|rejected) (for|by|as|because|due)\b|requires moderation|\bcontent (policy|filter(ing)?|moderation|management policy)\b|\busage polic(y|ies)\b/i,
        vendor: 'several',
        seen: 'reports',
      },
    ],
  },
  unsupported: {
    words: [
      {
        words: /^(image|audio|video) input is not supported\b|^Failed to parse (tools|messages|tool_choice|input)\b/,
        vendor: 'llama.cpp',
        seen: 'b11549',
      },
      { words: /\bis not a multimodal model\b/, vendor: 'vLLM', seen: '0.32.0' },
      {
        words: /\bdoes not support (thinking|tools|vision|chat|embeddings)\b/,
        vendor: 'Ollama',
        seen: '0.17.4, source',
      },
      // The answer to a wrong type, to a missing or empty list of messages, and to calls whose arguments are not JSON.
      {
        words: /^Internal Server Error$/,
        vendor: 'transformers serve',
        seen: '5.24.0',
        preset: 'transformers-serve',
      },
    ],
  },
  setup: {
    words: [
      {
        words: /^This server does not support \w+\. Start it with|^Pooling type '\w+' is not OAI compatible/,
        vendor: 'llama.cpp',
        seen: 'b11549',
      },
      { words: /^tool(s|_choice) param requires --jinja flag/, vendor: 'llama.cpp', seen: 'b4000' },
      {
        words: /\btool(_| )choice\b.{0,200}\brequires? .{0,40}--(enable-auto-tool-choice|tool-call-parser)\b/s,
        vendor: 'vLLM',
        seen: '0.32.0',
      },
    ],
  },
};

/** Returns true if one of the types and codes means this. */
export function areCodesOf(meaning: WordMeaning, given: readonly (string | undefined)[]): boolean {
  const { codes, words } = table[meaning];
  const isOne = (code: string) => codes?.has(code) === true || words.some((row) => row.in && row.words.test(code));
  return given.some((code) => code !== undefined && isOne(code));
}

/**
 * Returns true if the words of a message mean this.
 *
 * @param preset name of the upstream's preset
 */
export function areWordsOf(meaning: WordMeaning, message = '', preset?: string): boolean {
  const counts = (row: Words) => row.in !== 'code' && (row.preset === undefined || row.preset === preset);
  return table[meaning].words.some((row) => counts(row) && row.words.test(message));
}

/**
 * Meanings of a refusal that another server may not share: `unsupported` for what it lacks, `setup` where it runs without a
 * flag; undefined for any other.
 */
export function meaningOfServerWords(message?: string, preset?: string): 'unsupported' | 'setup' | undefined {
  return (['setup', 'unsupported'] as const).find((meaning) => areWordsOf(meaning, message, preset));
}
