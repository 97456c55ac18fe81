import type { ErrorMeaning } from '#core/platform/errors/table.ts';

/**
 * What an upstream's error can mean. `policy`: the content was refused, as it would be with another key and usually on another route.
 * `missing`: the upstream may not have the model; with statuses other than 403 and 404, the message may also be about a parameter.
 */
type WordMeaning = Exclude<ErrorMeaning, 'rejected'> | 'policy' | 'missing';

interface Wording {
  readonly pattern: RegExp;
  readonly vendor: string;
  readonly source: string; // first version in which the wording was seen, or where it is published or reported
  readonly appliesTo?: 'code' | 'code or message'; // default: the message
  readonly preset?: string; // the wording is too vague for upstreams with other presets
}

interface Wordings {
  readonly codes?: ReadonlySet<string>;
  readonly wordings: readonly Wording[];
}

/**
 * Codes and wordings of vendors, resellers and servers for errors whose status is too vague, because servers often send 500 or 501. See
 * docs/upstreams.md. Types and codes have the same meaning everywhere.
 */
const wordingsByMeaning: Readonly<Record<WordMeaning, Wordings>> = {
  overflow: {
    codes: new Set(['context_length_exceeded', 'exceed_context_size_error']),
    wordings: [
      { pattern: /prompt is too long/i, vendor: 'Anthropic', source: 'docs' },
      { pattern: /exceed context limit/i, vendor: 'Anthropic', source: 'reports' },
      { pattern: /maximum context length|context (length|window)/i, vendor: 'OpenAI', source: 'docs' },
      {
        pattern: /input token count.{0,80}(exceed|only supports up to \d)/i,
        vendor: 'Google',
        source: 'docs, reports',
      },
      { pattern: /range of input length/i, vendor: 'DashScope', source: 'reports' },
      { pattern: /maximum prompt length is \d/i, vendor: 'xAI', source: 'reports' },
      { pattern: /reduce the length of the messages/i, vendor: 'Groq, OpenAI', source: 'reports' },
      { pattern: /exceeded model token limit/i, vendor: 'Moonshot', source: 'reports' },
      { pattern: /input is too long for requested model/i, vendor: 'Bedrock', source: 'reports' },
      { pattern: /prompt token count of \d+ exceeds the limit/i, vendor: 'GitHub Copilot', source: 'reports' },
      { pattern: /longer than the maximum model length/i, vendor: 'vLLM', source: 'reports' },
      // Claude Code compacts on these, whatever the endpoint.
      {
        pattern: /prompt exceeds max length|input tokens exceed the configured limit|maximum context limit/i,
        vendor: 'several',
        source: 'Claude Code 2.1.332',
      },
      { pattern: /too many (input )?tokens(?!( per \w+)?, please wait)/i, vendor: 'several', source: 'reports' },
      { pattern: /exceeds? the available context size/i, vendor: 'llama.cpp', source: 'b11549' },
      {
        pattern:
          /larger than the max context size|too large to process\b.{0,40}batch size|context size has been exceeded/i,
        vendor: 'llama.cpp',
        source: 'source',
      },
      {
        pattern: /`inputs` (must have less than|tokens \+ `max_new_tokens` must be <=) \d/i,
        vendor: 'TGI',
        source: 'source',
      },
      { pattern: /\bexceeds the available context budget\b/, vendor: 'mlx-vlm', source: '0.7.10' },
    ],
  },
  // The prompt fits, but the limit of output tokens does not.
  limit: {
    wordings: [{ pattern: /cannot be greater than max_model_len/, vendor: 'vLLM', source: '0.32.0' }],
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
    wordings: [
      {
        pattern: /^(your )?(api key (is )?(not valid|not found|invalid|expired)|(invalid|incorrect) (x-)?api[- ]key)/i,
        vendor: 'several',
        source: 'reports',
      },
      { pattern: /^(your )?credit balance is too low/i, vendor: 'Anthropic', source: 'reports' },
      {
        pattern: /^(your )?(insufficient|not enough|out of) (balance|credits?|quota|funds)/i,
        vendor: 'DeepSeek, resellers',
        source: 'reports',
      },
      // Gateways lose the code. Google uses the same first sentence for temporary limits, and then mentions rate limits.
      {
        pattern: /^you exceeded your current quota, please check your plan and billing details(?!.*\brate-limits\b)/is,
        vendor: 'OpenAI',
        source: 'docs',
      },
    ],
  },
  capacity: {
    codes: new Set(['UNAVAILABLE', '503', '529']),
    wordings: [
      { pattern: /overloaded|\bslow_down\b/i, vendor: 'Anthropic, OpenAI', source: 'docs', appliesTo: 'code' },
      {
        pattern: /\boverloaded_error|server_is_overloaded|\bslow_down\b/i,
        vendor: 'Anthropic, OpenAI',
        source: 'docs',
        appliesTo: 'code or message',
      },
      {
        pattern: /\b(currently|temporarily|is) (overloaded|unavailable|busy|at capacity|out of capacity)/i,
        vendor: 'several',
        source: 'reports',
        appliesTo: 'code or message',
      },
      {
        pattern:
          /no (available|healthy) (channel|account|provider|upstream|server|capacity)|(insufficient|not enough|exceeded) capacity|capacity (exceeded|reached)|负载(已饱和|过高|较高)|(服务|系统|服务器|模型|当前)[^，。]{0,8}(繁忙|过载)/i,
        vendor: 'resellers',
        source: 'reports',
        appliesTo: 'code or message',
      },
      // Only at the start of a message, because later words may come from the client.
      {
        pattern:
          /^(the |our )?(engine|model|server|service|system)?s?( is| are)?( currently| temporarily| too)* ?(overloaded|busy|at capacity)\b|^we( are|['’]re) (currently )?experiencing high (demand|load|traffic)/i,
        vendor: 'several',
        source: 'reports',
      },
    ],
  },
  timeout: {
    codes: new Set(['DEADLINE_EXCEEDED', '504']),
    wordings: [
      { pattern: /^(upstream|gateway) (request )?(timeout|timed out)/i, vendor: 'resellers', source: 'reports' },
    ],
  },
  throttled: {
    codes: new Set(['rate_limit_error', 'rate_limit_exceeded', 'RESOURCE_EXHAUSTED', 'rateLimitExceeded', '429']),
    wordings: [
      {
        pattern:
          /^(you have )?(rate limit (exceeded|reached)|too many (concurrent )?requests|request was rejected due to rate|concurrency limit (exceeded|reached))|请求(过于|太)?频繁|(速率|频率|并发)[^，。]{0,6}(限制|超限|上限)/i,
        vendor: 'several',
        source: 'reports',
      },
      { pattern: /^(you have )?throttlingexception/i, vendor: 'Amazon Bedrock', source: 'docs' },
      { pattern: /\btoo many tokens( per \w+)?, please wait/i, vendor: 'Amazon Bedrock', source: 'reports' },
      {
        pattern: /^(you have )?(resource has been exhausted|quota exceeded for (quota )?metric)/i,
        vendor: 'Google',
        source: 'docs',
      },
    ],
  },
  // A name may contain a period.
  model: {
    codes: new Set(['model_not_found', 'model_not_supported', 'unknown_model']),
    wordings: [
      {
        pattern:
          /^[^.]{0,20}\bmodel\b([^.]|\.(?=\S)){0,100}(not exist|not found)|no such model|is not a valid model|model identifier is invalid|^server is pinned to\b/i,
        vendor: 'several',
        source: 'reports',
      },
      { pattern: /\bInvalid model name passed in model=/, vendor: 'LiteLLM', source: '1.108.7' },
      { pattern: /^Failed to load model: /, vendor: 'mlx-vlm', source: '0.7.10' },
    ],
  },
  missing: {
    wordings: [
      {
        pattern:
          /\bmodel\b(?:(?!\bmodel\b).)*(not found|not exist|not supported|not available|no access|not have access)|no such model|have access to model/i,
        vendor: 'several',
        source: 'reports',
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
    wordings: [
      {
        pattern:
          /\b(input|prompt|request|message|content|image|text)s? (was|were|is|are|has been|have been) (flagged|blocked|rejected) (for|by|as|because|due)\b|requires moderation|\bcontent (policy|filter(ing)?|moderation|management policy)\b|\busage polic(y|ies)\b/i,
        vendor: 'several',
        source: 'reports',
      },
    ],
  },
  unsupported: {
    wordings: [
      {
        pattern: /^(image|audio|video) input is not supported\b|^Failed to parse (tools|messages|tool_choice|input)\b/,
        vendor: 'llama.cpp',
        source: 'b11549',
      },
      { pattern: /\bis not a multimodal model\b/, vendor: 'vLLM', source: '0.32.0' },
      { pattern: /^Multimodal input is not supported by this model\b/, vendor: 'LMDeploy', source: '0.18.0' },
      {
        pattern: /\bdoes not support (thinking|tools|vision|chat|embeddings)\b/,
        vendor: 'Ollama',
        source: '0.17.4, source',
      },
      // LiteLLM does not know whether the model has the parameter.
      { pattern: /\blitellm\.drop_params\b/, vendor: 'LiteLLM', source: '1.108.7' },
      { pattern: /^Only 'text' content type is supported\b/, vendor: 'mlx-lm', source: '0.32.2' },
      // Chat templates raise it, whichever server renders them.
      { pattern: /\bconversation roles must alternate\b/i, vendor: 'several', source: 'chat templates' },
      { pattern: /^\d+ validation errors?:\s+\{'type': /, vendor: 'llama-cpp-python', source: '0.3.36' },
      // Reply to a wrong type, to a missing or empty list of messages, and to tool calls whose arguments are not JSON.
      {
        pattern: /^Internal Server Error$/,
        vendor: 'transformers serve',
        source: '5.24.0',
        preset: 'transformers-serve',
      },
    ],
  },
  setup: {
    wordings: [
      {
        pattern: /^This server does not support \w+\. Start it with|^Pooling type '\w+' is not OAI compatible/,
        vendor: 'llama.cpp',
        source: 'b11549',
      },
      { pattern: /^tool(s|_choice) param requires --jinja flag/, vendor: 'llama.cpp', source: 'b4000' },
      {
        pattern: /\btool(_| )choice\b.{0,200}\brequires? .{0,40}--(enable-auto-tool-choice|tool-call-parser)\b/s,
        vendor: 'vLLM',
        source: '0.32.0',
      },
      { pattern: /^Please launch the api_server with --tool-call-parser\b/, vendor: 'LMDeploy', source: '0.18.0' },
    ],
  },
};

/** Returns true if a server refuses reasoning but would serve the same request without it, as Ollama 0.17.4 does. */
export function refusesReasoning(message: string): boolean {
  return /\bdoes not support thinking\b/.test(message);
}

export function codesMean(meaning: WordMeaning, errorCodes: readonly (string | undefined)[]): boolean {
  const { codes, wordings } = wordingsByMeaning[meaning];
  const hasMeaning = (code: string) =>
    codes?.has(code) === true || wordings.some(({ appliesTo, pattern }) => appliesTo && pattern.test(code));
  return errorCodes.some((code) => code !== undefined && hasMeaning(code));
}

export function messageMeans(meaning: WordMeaning, message = '', preset?: string): boolean {
  const applies = (wording: Wording) =>
    wording.appliesTo !== 'code' && (wording.preset === undefined || wording.preset === preset);
  return wordingsByMeaning[meaning].wordings.some((wording) => applies(wording) && wording.pattern.test(message));
}

/**
 * Finds a meaning that is specific to the server, so another server may accept the request. `unsupported`: the server lacks a feature.
 * `setup`: it was started without a flag. Returns undefined for other messages.
 */
export function findServerMeaning(message?: string, preset?: string): 'unsupported' | 'setup' | undefined {
  return (['setup', 'unsupported'] as const).find((meaning) => messageMeans(meaning, message, preset));
}
