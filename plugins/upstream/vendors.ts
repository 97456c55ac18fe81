import type { Vendor } from '#core/catalog/catalog.ts';

/** OpenAI's models that think: sampling is fixed, stop sequences are refused. */
const openaiThinkers = { parameters: { sampling: false, stop: 0, system_role: 'developer' } } as const;
/** Claude from 4.7 on: thinks as much as it finds right, refuses budgets, sampling and a begun answer. */
const claudeAdaptive = { parameters: { reasoning: 'adaptive', sampling: false, prefill: false } } as const;

/**
 * Presets, as data: an upstream of one of these needs a key and nothing else. Endpoints that speak several formats list
 * all of them; what vendors do differently stands in their traits. Sources: each vendor's API reference.
 */
export const vendors: readonly Vendor[] = [
  {
    name: 'openai',
    title: 'OpenAI',
    formats: ['responses', 'chat', 'images'],
    baseUrl: 'https://api.openai.com/v1',
    auth: 'bearer',
    traits: {
      parameters: {
        max_tokens_name: 'max_completion_tokens',
        late_system: true,
        strict_tools: true,
        freeform_tools: true,
        hosted_search: true,
      },
    },
    models: [
      { match: 'o1*', ...openaiThinkers },
      { match: 'o3*', ...openaiThinkers },
      { match: 'o4*', ...openaiThinkers },
      { match: 'gpt-5*', ...openaiThinkers },
      { match: 'gpt-6*', ...openaiThinkers },
      { match: 'gpt-5.4*', parameters: { responses_for_tools: true } },
      { match: 'gpt-5.5*', parameters: { responses_for_tools: true } },
      { match: 'gpt-5.6*', parameters: { responses_for_tools: true } },
      { match: 'gpt-6*', parameters: { responses_for_tools: true } },
      { match: 'gpt-4*', capabilities: { reasoning: false }, parameters: { reasoning: 'none' } },
    ],
  },
  {
    name: 'anthropic',
    title: 'Anthropic',
    formats: ['messages'],
    baseUrl: 'https://api.anthropic.com/v1',
    auth: 'x-api-key',
    traits: {
      capabilities: { audio: false },
      parameters: {
        reasoning: 'budget',
        late_system: true,
        strict_tools: true,
        hosted_search: true,
        automatic_caching: true,
        count_tokens: true,
        prefill: true,
        max_output_tokens: 64_000,
      },
    },
    models: [
      { match: 'claude-3*', parameters: { max_output_tokens: 8_192, late_system: false } },
      { match: 'claude-3-7*', parameters: { max_output_tokens: 64_000 } },
      { match: 'claude-opus-4', parameters: { max_output_tokens: 32_000 } },
      { match: 'claude-*-4-6*', parameters: { reasoning: 'adaptive', prefill: false } },
      { match: 'claude-*-4-7*', ...claudeAdaptive },
      { match: 'claude-*-4-8*', ...claudeAdaptive },
      { match: 'claude-*-5*', ...claudeAdaptive },
      { match: 'claude-fable*', ...claudeAdaptive },
      { match: 'claude-mythos*', ...claudeAdaptive },
      // The four-point line spells its five differently.
      { match: 'claude-*-4-5*', parameters: { reasoning: 'budget', sampling: true, prefill: true } },
    ],
  },
  {
    name: 'gemini',
    title: 'Google Gemini',
    formats: ['gemini'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    auth: 'x-goog-api-key',
    traits: {
      parameters: { reasoning: 'level', hosted_search: true, count_tokens: true, stop: 5 },
    },
    models: [
      { match: 'gemini-2*', parameters: { reasoning: 'budget', tool_result_images: false } },
      // These cannot be kept from thinking.
      { match: 'gemini-2.5-pro*', parameters: { efforts: ['minimal', 'low', 'medium', 'high'] } },
      { match: 'gemini-3*-pro*', parameters: { efforts: ['low', 'medium', 'high'] } },
      { match: 'gemini-1*', parameters: { reasoning: 'none', tool_schema: 'subset', tool_result_images: false } },
    ],
  },
  {
    name: 'gemini-openai',
    title: 'Google Gemini, Chat endpoint',
    formats: ['chat', 'images'],
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    auth: 'bearer',
    traits: { parameters: { end_user: false } },
  },
  {
    name: 'deepseek',
    title: 'DeepSeek',
    formats: ['chat'],
    baseUrl: 'https://api.deepseek.com/v1',
    auth: 'bearer',
    traits: {
      capabilities: { images: false, files: false, audio: false, structured_output: 'object' },
      parameters: {
        late_system: true,
        text_content: true,
        reasoning: 'thinking',
        efforts: ['low', 'high', 'max'],
        replay_reasoning: 'always',
        stop: 16,
        end_user: false,
        parallel_switch: false,
      },
    },
    models: [{ match: 'deepseek-reasoner*', parameters: { replay_reasoning: 'never', reasoning: 'none' } }],
  },
  {
    name: 'deepseek-anthropic',
    title: 'DeepSeek, Messages endpoint',
    formats: ['messages'],
    baseUrl: 'https://api.deepseek.com/anthropic/v1',
    auth: 'x-api-key',
    traits: { capabilities: { images: false, files: false, audio: false }, parameters: { reasoning: 'budget' } },
  },
  {
    name: 'moonshot',
    title: 'Moonshot Kimi',
    formats: ['chat'],
    baseUrl: 'https://api.moonshot.ai/v1',
    auth: 'bearer',
    traits: {
      capabilities: { files: false, audio: false },
      parameters: { late_system: true, reasoning: 'thinking', replay_reasoning: 'tool_turns', stop: 5 },
    },
    models: [
      { match: 'kimi-k2*', parameters: { forced_tools: false } },
      { match: 'kimi-k3*', parameters: { reasoning: 'effort', efforts: ['low', 'high', 'max'], sampling: false } },
    ],
  },
  {
    name: 'zhipu',
    title: 'Zhipu GLM',
    formats: ['chat'],
    baseUrl: 'https://api.z.ai/api/paas/v4',
    auth: 'bearer',
    traits: {
      capabilities: { audio: false, structured_output: 'object' },
      parameters: {
        late_system: true,
        reasoning: 'thinking',
        replay_reasoning: 'tool_turns',
        forced_tools: false,
        parallel_switch: false,
        stop: 1,
      },
    },
  },
  {
    name: 'dashscope',
    title: 'Alibaba Qwen',
    formats: ['chat'],
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    auth: 'bearer',
    traits: {
      capabilities: { structured_output: 'object' },
      parameters: { late_system: true, reasoning: 'enable_thinking', forced_tools: false, end_user: false },
    },
  },
  {
    name: 'minimax',
    title: 'MiniMax',
    formats: ['chat'],
    baseUrl: 'https://api.minimax.io/v1',
    auth: 'bearer',
    traits: {
      capabilities: { files: false, audio: false, structured_output: 'none' },
      parameters: {
        max_tokens_name: 'max_completion_tokens',
        late_system: true,
        reasoning: 'none',
        replay_reasoning: 'tool_turns',
        inline_thinking: true,
        forced_tools: false,
        stop: 0,
        end_user: false,
      },
    },
  },
  {
    name: 'xai',
    title: 'xAI',
    formats: ['responses', 'chat', 'messages', 'images'],
    baseUrl: 'https://api.x.ai/v1',
    auth: 'bearer',
    traits: {
      capabilities: { audio: false },
      parameters: { max_tokens_name: 'max_completion_tokens', late_system: true, stop: 0, hosted_search: true },
    },
  },
  {
    name: 'mistral',
    title: 'Mistral',
    formats: ['chat'],
    baseUrl: 'https://api.mistral.ai/v1',
    auth: 'bearer',
    traits: {
      capabilities: { files: false },
      parameters: {
        reasoning: 'effort',
        efforts: ['none', 'high'],
        tool_call_ids: 'nine_characters',
        seed_name: 'random_seed',
        stream_usage: false,
        end_user: false,
      },
    },
  },
  {
    name: 'openrouter',
    title: 'OpenRouter',
    formats: ['chat', 'responses', 'messages'],
    baseUrl: 'https://openrouter.ai/api/v1',
    auth: 'bearer',
    traits: { parameters: { late_system: true, reasoning: 'openrouter' } },
  },
  {
    name: 'groq',
    title: 'Groq',
    formats: ['chat', 'responses'],
    baseUrl: 'https://api.groq.com/openai/v1',
    auth: 'bearer',
    traits: {
      capabilities: { files: false, audio: false },
      parameters: { max_tokens_name: 'max_completion_tokens', late_system: true },
    },
  },
  {
    name: 'cerebras',
    title: 'Cerebras',
    formats: ['chat'],
    baseUrl: 'https://api.cerebras.ai/v1',
    auth: 'bearer',
    traits: {
      capabilities: { images: false, files: false, audio: false },
      parameters: { max_tokens_name: 'max_completion_tokens', late_system: true, text_content: true },
    },
  },
  {
    name: 'together',
    title: 'Together',
    formats: ['chat', 'images'],
    baseUrl: 'https://api.together.xyz/v1',
    auth: 'bearer',
    traits: { capabilities: { files: false, audio: false }, parameters: { late_system: true } },
  },
  {
    name: 'ollama',
    title: 'Ollama',
    formats: ['chat', 'responses', 'messages'],
    baseUrl: 'http://127.0.0.1:11434/v1',
    auth: 'none',
    traits: { capabilities: { files: false, audio: false }, parameters: { late_system: true } },
  },
  {
    name: 'vllm',
    title: 'vLLM',
    formats: ['chat', 'responses', 'messages'],
    baseUrl: 'http://127.0.0.1:8000/v1',
    auth: 'none',
    traits: { parameters: { late_system: true } },
  },
];
