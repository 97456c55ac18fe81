import type { Vendor, VendorModels } from '#core/config/catalog/catalog.ts';

/**
 * Quirks of other vendors' Anthropic-compatible endpoints: thinking needs a budget and is not signed. They also reject system messages
 * inside the conversation, but that is the default of `late_system`.
 */
export const anthropicCompatibleQuirks = { reasoning: 'budget', signed_thinking: false, strict_calls: true } as const;

/** OpenAI's reasoning models, which have fixed sampling and reject stop sequences and audio. */
const openaiReasoningModels = {
  capabilities: { audio: false },
  quirks: { sampling: false, stop: 0, system_role: 'developer' },
} as const;
/** Claude from 4.7 on. It chooses its own thinking budget, and rejects budgets, sampling and prefilled replies. */
const adaptiveClaude = {
  quirks: { reasoning: 'adaptive', sampling: false, prefill: false, max_output_tokens: 128_000 },
} as const;
/** Claude up to 4.5. If it can think, it takes a budget. */
const budgetClaude = { quirks: { reasoning: 'budget', sampling: true, prefill: true } } as const;
const claudeOpus4 = { quirks: { max_output_tokens: 32_000 } } as const; // Opus 4 and 4.1
/** Efforts of models whose thinking cannot be turned off. */
export const effortsWithoutNone = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Source: "thinking.type.disabled is not supported for this model", opencode-anthropic-auth#159. */
const alwaysThinkingClaude = { quirks: { ...adaptiveClaude.quirks, efforts: effortsWithoutNone } } as const;
/** Claude since September 2026 also rejects forced tool calls. Source: Anthropic docs, migration guides of these models. */
const freelyCallingClaude = { quirks: { ...alwaysThinkingClaude.quirks, forced_tools: false } } as const;
/** Source: Anthropic docs, "What's new in Claude Sonnet 5.5", "Turn off up-front thinking with between_tools". */
const claudeSonnet55 = {
  quirks: { ...adaptiveClaude.quirks, forced_tools: false, no_thinking: 'between_tools' },
} as const;
/**
 * Source: "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable
 * thinking.", claude-code#76689; Anthropic docs, "What's new in Claude Opus 5"; for Haiku 5.5, release notes of @ai-sdk/anthropic 2.0.109.
 */
const effortLimitedClaude = { quirks: { ...adaptiveClaude.quirks, no_thinking: 'disabled_to_high' } } as const;

const openaiFormats = [
  'responses',
  'chat',
  'completions',
  'embeddings',
  'images',
  'speech',
  'transcriptions',
  'moderations',
];

const openaiModelKinds = [
  { match: 'gpt-image*', kind: 'image' },
  { match: 'chatgpt-image*', kind: 'image' },
  { match: 'dall-e*', kind: 'image' },
  { match: 'text-embedding*', kind: 'embedding' },
  { match: 'tts-*', kind: 'speech' },
  { match: '*-tts*', kind: 'speech' },
  { match: 'whisper*', kind: 'transcription' },
  { match: '*-transcribe*', kind: 'transcription' },
  { match: '*-moderation*', kind: 'moderation' },
] as const;

/** Claude models by Anthropic's names. All rows that match a model apply in order; later rows override earlier ones. */
export const claudeModels: readonly VendorModels[] = [
  { match: 'claude-3*', quirks: { max_output_tokens: 8_192, late_system: false } },
  { match: 'claude-3-7*', quirks: { max_output_tokens: 64_000 } },
  { match: 'claude-opus-4', ...claudeOpus4 },
  { match: 'claude-opus-4-0*', ...claudeOpus4 },
  { match: 'claude-opus-4-1*', ...claudeOpus4 },
  { match: 'claude-opus-4-2025*', ...claudeOpus4 }, // a date
  { match: 'claude-opus-4@*', ...claudeOpus4 }, // a date on Vertex AI
  { match: 'claude-*-4-6*', quirks: { reasoning: 'adaptive', prefill: false, max_output_tokens: 128_000 } },
  { match: 'claude-*-4-7*', ...adaptiveClaude },
  { match: 'claude-*-4-8*', ...adaptiveClaude },
  { match: 'claude-*-5*', ...adaptiveClaude },
  // Not Claude 5: the row above also matches names in which the 5 is a minor version.
  { match: 'claude-3-5*', quirks: { ...budgetClaude.quirks, max_output_tokens: 8_192 } },
  { match: 'claude-*-4-5*', quirks: { ...budgetClaude.quirks, max_output_tokens: 64_000 } },
  { match: 'claude-opus-5*', ...effortLimitedClaude },
  { match: 'claude-haiku-5-5*', ...effortLimitedClaude },
  { match: 'claude-opus-5-5*', ...freelyCallingClaude },
  { match: 'claude-sonnet-5-5*', ...claudeSonnet55 },
  { match: 'claude-fable*', ...alwaysThinkingClaude },
  { match: 'claude-mythos*', ...alwaysThinkingClaude },
  { match: 'claude-fable-5-1*', ...freelyCallingClaude },
  { match: 'claude-fable-5-2*', ...freelyCallingClaude },
  { match: 'claude-mythos-5-1*', ...freelyCallingClaude },
  { match: 'claude-mythos-5-2*', ...freelyCallingClaude },
];

/** Request fields that only OpenRouter and similar gateways support. They choose the provider, or transform the prompt or the reply. */
export const routingMembers = ['provider', 'plugins', 'models', 'fallbacks', 'route', 'preset', 'transforms'];

const openaiBase = {
  capabilities: { video: false },
  quirks: {
    max_tokens_name: 'max_completion_tokens',
    // OpenAI messages have no field for reasoning.
    replay_reasoning: 'never',
    late_system: true,
    strict_tools: true,
    schema_subset: 'openai',
    tool_call_ids: 'unique',
    freeform_tools: true,
    hosted_search: true,
    betas: true,
    count_tokens: true,
    // "Unrecognized request argument supplied: provider".
    refuses: routingMembers,
  },
  models: [
    ...openaiModelKinds,
    { match: 'o1*', ...openaiReasoningModels },
    { match: 'o3*', ...openaiReasoningModels },
    { match: 'o4*', ...openaiReasoningModels },
    { match: 'gpt-5*', ...openaiReasoningModels },
    { match: 'gpt-6*', ...openaiReasoningModels },
    { match: 'gpt-5.4*', quirks: { responses_for_tools: true } },
    { match: 'gpt-5.5*', quirks: { responses_for_tools: true } },
    { match: 'gpt-5.6*', quirks: { responses_for_tools: true } },
    { match: 'gpt-6*', quirks: { responses_for_tools: true } },
    { match: 'gpt-4*', capabilities: { reasoning: false, audio: false }, quirks: { reasoning: 'none' } },
    { match: '*-audio*', capabilities: { audio: true } },
  ],
} satisfies Partial<Vendor>;

const bothCacheRetentions: Pick<VendorModels, 'quirks'> = { quirks: { cache_retention: ['in_memory', '24h'] } };
const longCacheRetention: Pick<VendorModels, 'quirks'> = { quirks: { cache_retention: ['24h'] } };

/** Source: OpenAI docs, "Prompt caching". Azure answers "prompt_cache_retention is not supported on this model" for some models. */
const openaiCacheRetentions: readonly VendorModels[] = [
  { match: 'gpt-4.1*', ...bothCacheRetentions },
  { match: 'gpt-5*', ...bothCacheRetentions },
  { match: '*-mini*', quirks: { cache_retention: ['in_memory'] } },
  { match: '*-nano*', quirks: { cache_retention: ['in_memory'] } },
  { match: 'gpt-5.1-codex-mini*', ...bothCacheRetentions },
  { match: 'gpt-5.5*', ...longCacheRetention },
  { match: 'gpt-5.6*', ...longCacheRetention },
  { match: 'gpt-6*', ...longCacheRetention },
];

/** Google rejects unknown fields with 400: "Unknown name: Cannot find field". */
const geminiRejectedMembers = [
  'store',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  'top_k',
  'metadata',
  'prediction',
  'prompt_cache_key',
  'prompt_cache_retention',
  'reasoning',
  'thinking',
  'enable_thinking',
  'verbosity',
  ...routingMembers,
];

/** Vendors that defined a format, and those that serve the same models. */
export const originVendors: readonly Vendor[] = [
  {
    name: 'openai',
    title: 'OpenAI',
    formats: openaiFormats,
    baseUrl: 'https://api.openai.com/v1',
    auth: 'bearer',
    ...openaiBase,
    quirks: { ...openaiBase.quirks, cache_retention: ['in_memory'] },
    models: [...openaiBase.models, ...openaiCacheRetentions],
  },
  {
    // Source: Microsoft Learn, "Azure OpenAI in Microsoft Foundry Models v1 API". The base URL starts with the resource name.
    name: 'azure-openai',
    title: 'Azure OpenAI',
    formats: openaiFormats,
    auth: 'api-key',
    baseUrlExample: 'https://NAME.openai.azure.com/openai/v1',
    ...openaiBase,
  },
  {
    name: 'anthropic',
    title: 'Anthropic',
    formats: ['messages'],
    baseUrl: 'https://api.anthropic.com/v1',
    auth: 'x-api-key',
    capabilities: { audio: false, video: false },
    quirks: {
      reasoning: 'budget',
      late_system: true,
      strict_tools: true,
      tool_call_ids: 'unique',
      hosted_search: true,
      betas: true,
      claude: true,
      automatic_caching: true,
      stop: 8_191,
      count_tokens: true,
      prefill: true,
      max_output_tokens: 64_000,
    },
    models: claudeModels,
  },
  {
    name: 'gemini',
    title: 'Google Gemini',
    formats: ['gemini', 'gemini-embeddings'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    auth: 'x-goog-api-key',
    quirks: { reasoning: 'level', hosted_search: true, count_tokens: true, stop: 5 },
    models: [
      { match: '*embedding*', kind: 'embedding' },
      { match: 'gemini-2*', quirks: { reasoning: 'budget', tool_result_images: false } },
      // Their thinking cannot be turned off.
      { match: 'gemini-2.5-pro*', quirks: { efforts: ['minimal', 'low', 'medium', 'high'] } },
      { match: 'gemini-3*-pro*', quirks: { efforts: ['low', 'medium', 'high'] } },
      { match: 'gemini-1*', quirks: { reasoning: 'none', tool_schema: 'subset', tool_result_images: false } },
    ],
  },
  {
    name: 'gemini-openai',
    title: 'Google Gemini, Chat endpoint',
    formats: ['chat', 'images', 'embeddings'],
    models: [
      { match: 'imagen*', kind: 'image' },
      { match: '*embedding*', kind: 'embedding' },
    ],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    auth: 'bearer',
    quirks: { end_user: false, replay_reasoning: 'never', refuses: geminiRejectedMembers },
  },
];
