import type { Vendor } from '#core/config/catalog/catalog.ts';
import { routingMembers } from './origins.ts';

const otherVendorsReasoning = ['messages.reasoning_content', 'messages.reasoning_details'];

/** Members rejected with 400; `reasoning` only by models without reasoning, but it is removed for all. Source: Groq docs, "OpenAI Compatibility". */
const groqRejectedMembers = [
  ...otherVendorsReasoning,
  'messages.reasoning',
  'messages.name',
  // The next four are null in replies, and OpenAI clients send them back unchanged.
  'messages.refusal',
  'messages.annotations',
  'messages.audio',
  'messages.function_call',
  'logprobs',
  'logit_bias',
  'top_logprobs',
  'reasoning',
  'thinking',
  'enable_thinking',
  ...routingMembers,
];

/** Members rejected with 400. Source: Cerebras docs, "OpenAI Compatibility". */
const cerebrasRejectedMembers = [
  ...otherVendorsReasoning,
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
  ...routingMembers,
];

/** Kimi expects tool call ids in the prompt to have a particular format. Source: MoonshotAI/K2-Vendor-Verifier; vLLM recipes, "Kimi K2". */
export const kimiQuirks = { tool_call_ids: 'functions' } as const;

/** Vendors that host other vendors' models. */
export const hostVendors: readonly Vendor[] = [
  {
    name: 'openrouter',
    title: 'OpenRouter',
    formats: ['chat', 'responses', 'messages', 'completions', 'embeddings'],
    baseUrl: 'https://openrouter.ai/api/v1',
    auth: 'bearer',
    quirks: {
      late_system: true,
      reasoning: 'openrouter',
      replay_as: 'reasoning',
      hosted_search: true,
      // OpenRouter accepts these, but each can route the request to other models.
      refuses: ['models', 'route', 'preset'],
      // Source: OpenRouter API reference, "Create a message": accepts both forms of thinking and has its own web search.
      by_format: { messages: { late_system: false, signed_thinking: false, schema_subset: 'any' } },
    },
    // Only Claude verifies thinking signatures.
    models: [
      { match: '*embed*', kind: 'embedding' },
      { match: '*openai/*', quirks: { schema_subset: 'openai', tool_call_ids: 'unique' } },
      {
        match: '*anthropic/*',
        quirks: {
          schema_subset: 'anthropic',
          tool_call_ids: 'unique',
          by_format: { messages: { signed_thinking: true } },
        },
      },
      { match: '*kimi*', quirks: { by_format: { chat: kimiQuirks } } },
    ],
  },
  {
    name: 'groq',
    title: 'Groq',
    formats: ['chat', 'responses', 'speech', 'transcriptions'],
    baseUrl: 'https://api.groq.com/openai/v1',
    auth: 'bearer',
    models: [
      { match: 'whisper*', kind: 'transcription' },
      { match: '*-tts*', kind: 'speech' },
      { match: '*kimi*', quirks: kimiQuirks },
      // These models would read thinking tags as text.
      { match: 'llama*', capabilities: { reasoning: false } },
      // Only these models enforce a schema.
      { match: '*gpt-oss*', quirks: { schema_subset: 'groq' } },
    ],
    capabilities: { files: false, audio: false, video: false },
    quirks: {
      max_tokens_name: 'max_completion_tokens',
      late_system: true,
      replay_as: 'think_tags',
      default_effort: true,
      strict_calls: true,
      by_format: { chat: { refuses: groqRejectedMembers }, responses: { refuses: routingMembers } },
    },
  },
  {
    name: 'cerebras',
    title: 'Cerebras',
    formats: ['chat', 'completions'],
    baseUrl: 'https://api.cerebras.ai/v1',
    auth: 'bearer',
    capabilities: { images: false, files: false, audio: false, video: false },
    quirks: {
      max_tokens_name: 'max_completion_tokens',
      late_system: true,
      text_content: true,
      replay_as: 'think_tags',
      schema_subset: 'cerebras',
      strict_calls: true,
      refuses: cerebrasRejectedMembers,
    },
    // Source: opencode#26763, by Cerebras.
    models: [{ match: 'gpt-oss*', quirks: { replay_as: 'text' } }],
  },
  {
    name: 'together',
    title: 'Together',
    formats: ['chat', 'completions', 'embeddings', 'images', 'rerank'],
    baseUrl: 'https://api.together.xyz/v1',
    auth: 'bearer',
    models: [
      { match: '*FLUX*', kind: 'image' },
      { match: '*stable-diffusion*', kind: 'image' },
      { match: '*embed*', kind: 'embedding' },
      { match: '*rerank*', kind: 'rerank' },
      { match: '*Kimi*', quirks: kimiQuirks },
    ],
    capabilities: { files: false, audio: false },
    quirks: { late_system: true, strict_calls: true },
  },
];
