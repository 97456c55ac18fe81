import type { Vendor } from '#core/config/catalog/catalog.ts';
import type { ProfileSettings } from '#core/config/catalog/profile.ts';
import { alwaysThinking, compatibleMessages } from './origins.ts';

/** Grok without reasoning. */
const grokPlain: ProfileSettings = { quirks: { stop: 4, refuses: [] } };

/** Models before M3 take no images. Source: MiniMax API docs, "Compatible OpenAI API", "Compatible Anthropic API". */
const minimaxText: ProfileSettings = { capabilities: { images: false } };

/** Mistral rejects any other member with 422. Source: Mistral API reference, "Chat Completion". */
const mistralMembers = [
  'model',
  'messages',
  'temperature',
  'top_p',
  'max_tokens',
  'stream',
  'stop',
  'random_seed',
  'metadata',
  'response_format',
  'tools',
  'tool_choice',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'prediction',
  'parallel_tool_calls',
  'prompt_mode',
  'prompt_cache_key',
  'reasoning_effort',
  'guardrails',
  'safe_prompt',
  'messages.role',
  'messages.content',
  'messages.tool_calls',
  'messages.tool_call_id',
  'messages.prefix',
  'messages.tool_calls.id',
  'messages.tool_calls.type',
  'messages.tool_calls.index',
  'messages.tool_calls.function',
];

/** Vendors that serve their own models. */
export const labVendors: readonly Vendor[] = [
  {
    name: 'deepseek',
    title: 'DeepSeek',
    formats: ['chat'],
    baseUrl: 'https://api.deepseek.com/v1',
    auth: 'bearer',
    capabilities: { images: false, files: false, audio: false, video: false, structured_output: 'object' },
    quirks: {
      late_system: true,
      text_content: true,
      reasoning: 'thinking',
      efforts: ['low', 'high', 'max'],
      replay_reasoning: 'always',
      strict_calls: true,
      stop: 16,
      end_user: false,
      parallel_switch: false,
    },
    models: [
      {
        match: 'deepseek-reasoner*',
        quirks: { replay_reasoning: 'never', reasoning: 'none', refuses: ['messages.reasoning_content'] },
      },
    ],
  },
  {
    name: 'deepseek-anthropic',
    title: 'DeepSeek, Messages endpoint',
    formats: ['messages'],
    // Source: DeepSeek API Docs, "Anthropic API".
    baseUrl: 'https://api.deepseek.com/anthropic/v1',
    auth: 'x-api-key',
    capabilities: { images: false, files: false, audio: false, video: false, structured_output: 'none' },
    quirks: { ...compatibleMessages, replay_reasoning: 'always' },
  },
  {
    name: 'moonshot',
    title: 'Moonshot Kimi',
    formats: ['chat'],
    baseUrl: 'https://api.moonshot.ai/v1',
    auth: 'bearer',
    capabilities: { files: false, audio: false },
    quirks: {
      late_system: true,
      reasoning: 'thinking',
      replay_reasoning: 'tool_turns',
      strict_calls: true,
      tool_call_ids: 'functions',
      stop: 5,
    },
    models: [
      { match: 'kimi-k2*', quirks: { forced_tools: false } },
      { match: 'kimi-k3*', quirks: { reasoning: 'effort', efforts: ['low', 'high', 'max'], sampling: false } },
    ],
  },
  {
    name: 'moonshot-anthropic',
    title: 'Moonshot Kimi, Messages endpoint',
    formats: ['messages'],
    // Source: Moonshot AI docs, "Using Kimi in Claude Code".
    baseUrl: 'https://api.moonshot.ai/anthropic/v1',
    auth: 'bearer',
    capabilities: { files: false, audio: false, video: false, structured_output: 'none' },
    quirks: { ...compatibleMessages, tool_call_ids: 'functions' },
  },
  {
    name: 'zhipu',
    title: 'Zhipu GLM',
    formats: ['chat', 'embeddings'],
    models: [{ match: 'embedding*', kind: 'embedding' }],
    baseUrl: 'https://api.z.ai/api/paas/v4',
    auth: 'bearer',
    capabilities: { audio: false, structured_output: 'object' },
    quirks: {
      late_system: true,
      reasoning: 'thinking',
      replay_reasoning: 'tool_turns',
      strict_calls: true,
      forced_tools: false,
      parallel_switch: false,
      stop: 1,
      // Source: Z.AI docs, "Chat Completion", which lists neither parameter.
      refuses: ['presence_penalty', 'frequency_penalty', 'messages.name'],
    },
  },
  {
    name: 'zhipu-anthropic',
    title: 'Zhipu GLM, Messages endpoint',
    formats: ['messages'],
    // Source: Z.AI docs, "Claude Code".
    baseUrl: 'https://api.z.ai/api/anthropic/v1',
    auth: 'bearer',
    capabilities: { audio: false, video: false, structured_output: 'none' },
    quirks: { ...compatibleMessages, forced_tools: false },
  },
  {
    name: 'dashscope',
    title: 'Alibaba Qwen',
    formats: ['chat', 'embeddings'],
    models: [{ match: '*embedding*', kind: 'embedding' }],
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    auth: 'bearer',
    capabilities: { structured_output: 'object' },
    quirks: {
      late_system: true,
      reasoning: 'enable_thinking',
      strict_calls: true,
      forced_tools: false,
      end_user: false,
      refuses: ['frequency_penalty'],
    },
  },
  {
    name: 'dashscope-anthropic',
    title: 'Alibaba Qwen, Messages endpoint',
    formats: ['messages'],
    // Source: Alibaba Cloud Model Studio, "Anthropic API compatibility".
    baseUrl: 'https://dashscope-intl.aliyuncs.com/apps/anthropic/v1',
    auth: 'x-api-key',
    capabilities: { audio: false, video: false, structured_output: 'none' },
    quirks: compatibleMessages,
  },
  {
    name: 'minimax',
    title: 'MiniMax',
    formats: ['chat'],
    baseUrl: 'https://api.minimax.io/v1',
    auth: 'bearer',
    capabilities: { files: false, audio: false, video: false, structured_output: 'none' },
    quirks: {
      max_tokens_name: 'max_completion_tokens',
      single_system: true,
      // Source: MiniMax API docs, "Compatible OpenAI API": on by default; models before M3 always reason.
      reasoning: 'thinking_off',
      replay_reasoning: 'tool_turns',
      inline_thinking: true,
      strict_calls: true,
      forced_tools: false,
      stop: 0,
      end_user: false,
    },
    models: [{ match: 'MiniMax-M2*', ...minimaxText, quirks: { reasoning: 'none' } }],
  },
  {
    name: 'minimax-anthropic',
    title: 'MiniMax, Messages endpoint',
    formats: ['messages'],
    // Source: MiniMax API docs, "Compatible Anthropic API".
    baseUrl: 'https://api.minimax.io/anthropic/v1',
    auth: 'bearer',
    capabilities: { files: false, audio: false, video: false, structured_output: 'none' },
    // Models from M3 on take thinking in either form.
    quirks: { signed_thinking: false, strict_calls: true },
    models: [{ match: 'MiniMax-M2*', ...minimaxText, quirks: { ...compatibleMessages, efforts: [...alwaysThinking] } }],
  },
  {
    name: 'xai',
    title: 'xAI',
    formats: ['responses', 'chat', 'messages', 'images'],
    baseUrl: 'https://api.x.ai/v1',
    auth: 'bearer',
    capabilities: { audio: false, video: false },
    quirks: {
      max_tokens_name: 'max_completion_tokens',
      late_system: true,
      hosted_search: true,
      // Source: xAI docs, "Reasoning": models that reason refuse these, zero included.
      stop: 0,
      refuses: ['presence_penalty', 'frequency_penalty'],
      by_format: { messages: { ...compatibleMessages, late_system: false, hosted_search: false } },
    },
    models: [
      { match: '*-image*', kind: 'image' },
      { match: 'grok-2*', ...grokPlain },
      { match: 'grok-3', ...grokPlain },
      { match: 'grok-3-fast*', ...grokPlain },
      { match: '*-non-reasoning*', ...grokPlain },
    ],
  },
  {
    name: 'mistral',
    title: 'Mistral',
    formats: ['chat', 'embeddings'],
    models: [{ match: '*-embed*', kind: 'embedding' }],
    baseUrl: 'https://api.mistral.ai/v1',
    auth: 'bearer',
    capabilities: { files: false, video: false },
    quirks: {
      reasoning: 'effort',
      efforts: ['none', 'high'],
      replay_as: 'thinking_parts',
      tool_call_ids: 'nine_characters',
      schema_subset: 'mistral',
      strict_calls: true,
      seed_name: 'random_seed',
      stream_usage: false,
      end_user: false,
      accepts: mistralMembers,
      refuses: ['messages.content.cache_control', 'messages.content.prompt_cache_breakpoint'],
    },
  },
];
