import type { Vendor } from '#core/config/catalog/catalog.ts';
import { kimiQuirks } from './hosts.ts';

/**
 * Messages endpoints of servers that do not sign thinking. They accept adaptive thinking with an effort, as newer Claude models do. If a
 * thinking budget is set, they reject the request or ignore the effort. They also enforce a different subset of JSON Schema than Claude.
 */
const serverMessages = {
  reasoning: 'adaptive',
  signed_thinking: false,
  strict_calls: true,
  schema_subset: 'any',
} as const;

/** Fields that transformers serve 5.24.0 uses. It ignores OpenAI's other fields and rejects unknown ones with 422. */
const transformersFields = [
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'frequency_penalty',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'tools',
  'generation_config',
  'chat_template_kwargs',
];

/** Fields that mlx-lm 0.32.2 reads, except those that name files and models on its machine. It ignores OpenAI's other fields. */
const mlxLmFields = [
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'repetition_penalty',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'seed',
  'stop',
  'stream',
  'stream_options',
  'tools',
  'chat_template_kwargs',
];

/** Fields that mlx-vlm 0.7.10 reads, except the path of an adapter on its machine. It ignores OpenAI's other fields. */
const mlxVlmFields = [
  'model',
  'messages',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'repetition_penalty',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'seed',
  'stream',
  'stream_options',
  'tools',
  'response_format',
  'reasoning_effort',
  'enable_thinking',
  'thinking_budget',
  'min_pixels',
  'max_pixels',
];

/** Self-hosted servers. Their behavior was observed on real servers or read in their source; see docs/upstreams.md. */
export const serverVendors: readonly Vendor[] = [
  {
    // Tested with 0.17.4; checked against the source of 0.33.0-rc2.
    name: 'ollama',
    title: 'Ollama',
    formats: ['chat', 'responses', 'messages', 'completions', 'embeddings'],
    baseUrl: 'http://127.0.0.1:11434/v1',
    auth: 'none',
    models: [{ match: '*embed*', kind: 'embedding' }],
    capabilities: { files: false, audio: false, video: false },
    quirks: {
      late_system: true,
      replay_as: 'reasoning',
      // It rejects calls whose arguments are empty.
      strict_calls: true,
      // 0.17.4 rejects other efforts.
      efforts: ['none', 'low', 'medium', 'high'],
      // tool_choice is not supported in any format.
      forced_tools: false,
      no_tools: false,
      by_format: { messages: { ...serverMessages, late_system: false } },
    },
  },
  {
    name: 'ollama-native',
    title: 'Ollama, native endpoint',
    formats: ['ollama'],
    baseUrl: 'http://127.0.0.1:11434/api',
    auth: 'none',
    capabilities: { files: false, audio: false, video: false },
    quirks: { late_system: true },
  },
  {
    // Observed: 0.32.0.
    name: 'vllm',
    title: 'vLLM',
    formats: ['chat', 'responses', 'messages', 'completions', 'embeddings', 'rerank', 'transcriptions'],
    baseUrl: 'http://127.0.0.1:8000/v1',
    auth: 'none',
    models: [
      { match: '*embed*', kind: 'embedding' },
      { match: '*rerank*', kind: 'rerank' },
      { match: '*whisper*', kind: 'transcription' },
      { match: '*kimi*', quirks: kimiQuirks },
      { match: '*Kimi*', quirks: kimiQuirks },
    ],
    // Several chat templates fail on a system message that is not the first message.
    quirks: {
      single_system: true,
      strict_calls: true,
      cache_separator: 'cache_salt',
      // From 0.23.0 on, the Messages endpoint accepts efforts, and moves late system messages if the template requires it.
      by_format: { messages: { ...serverMessages, late_system: true, single_system: false, cache_separator: 'none' } },
    },
  },
  {
    // Observed: 1.6.1. Its Responses endpoint accepts the fields that its Chat endpoint rejects.
    name: 'dynamo',
    title: 'NVIDIA Dynamo',
    formats: ['chat', 'responses', 'completions', 'embeddings'],
    baseUrl: 'http://127.0.0.1:8000/v1',
    auth: 'none',
    models: [
      { match: '*embed*', kind: 'embedding' },
      { match: '*kimi*', quirks: kimiQuirks },
      { match: '*Kimi*', quirks: kimiQuirks },
    ],
    quirks: {
      single_system: true,
      strict_calls: true,
      by_format: { chat: { refuses: ['verbosity', 'safety_identifier', 'prompt_cache_retention'] } },
    },
  },
  {
    // Observed: b11549. The Responses endpoint rejects valid items and reports a truncated reply as completed. The Messages endpoint
    // ignores tool_choice none.
    name: 'llama-cpp',
    title: 'llama.cpp',
    formats: ['chat', 'completions', 'embeddings', 'rerank'],
    baseUrl: 'http://127.0.0.1:8080/v1',
    auth: 'none',
    models: [
      { match: '*embed*', kind: 'embedding' },
      { match: '*rerank*', kind: 'rerank' },
    ],
    capabilities: { files: false, video: false },
    quirks: { single_system: true, strict_calls: true, named_tools: false },
  },
  {
    // Observed: 0.3.36. It rejects a null content, which OpenAI clients send along with tool calls, and responds with 500.
    name: 'llama-cpp-python',
    title: 'llama-cpp-python',
    formats: ['chat', 'completions', 'embeddings'],
    baseUrl: 'http://127.0.0.1:8000/v1',
    auth: 'none',
    models: [{ match: '*embed*', kind: 'embedding' }],
    capabilities: { files: false, audio: false, video: false, structured_output: 'object' },
    quirks: {
      single_system: true,
      strict_calls: true,
      text_content: true,
      reasoning: 'none',
      no_tools: false,
      refuses: ['messages.function_call'],
    },
  },
  {
    // Observed: 0.18.0. Its Responses endpoint drops the reasoning. Its Messages endpoint does not accept thinking in requests, and wraps the
    // input of a truncated call.
    name: 'lmdeploy',
    title: 'LMDeploy',
    formats: ['chat', 'completions'],
    baseUrl: 'http://127.0.0.1:23333/v1',
    auth: 'none',
    capabilities: { files: false },
    quirks: {
      single_system: true,
      strict_calls: true,
      // It rejects the other efforts.
      efforts: ['low', 'medium', 'high', 'max'],
      // Stop sequences that span several tokens are ignored, and a token that contains a stop sequence is dropped entirely.
      stop: 0,
    },
  },
  {
    // Observed: 0.32.2. Its Completions endpoint takes a single prompt, not a list.
    name: 'mlx-lm',
    title: 'mlx-lm',
    formats: ['chat'],
    baseUrl: 'http://127.0.0.1:8080/v1',
    auth: 'none',
    capabilities: { files: false, audio: false, video: false, structured_output: 'none', parallel_tools: false },
    quirks: {
      single_system: true,
      strict_calls: true,
      reasoning: 'none',
      forced_tools: false,
      no_tools: false,
      // If a stop sequence is only part of a token, its characters are removed but the reply does not stop.
      stop: 0,
      end_user: false,
      parallel_switch: false,
      accepts: mlxLmFields,
    },
  },
  {
    // Observed: 0.7.10, on Linux. Its Messages endpoint streams past a stop sequence. Its Responses endpoint drops text
    // that accompanies tool calls.
    name: 'mlx-vlm',
    title: 'mlx-vlm',
    formats: ['chat', 'embeddings', 'rerank'],
    baseUrl: 'http://127.0.0.1:8080/v1',
    auth: 'none',
    models: [
      { match: '*embed*', kind: 'embedding' },
      { match: '*rerank*', kind: 'rerank' },
    ],
    capabilities: { files: false },
    quirks: {
      single_system: true,
      strict_calls: true,
      forced_tools: false,
      no_tools: false,
      // It does not read `stop`.
      stop: 0,
      end_user: false,
      parallel_switch: false,
      accepts: mlxVlmFields,
    },
  },
  {
    // Observed: 5.24.0.
    name: 'transformers-serve',
    title: 'transformers serve',
    formats: ['chat'],
    baseUrl: 'http://127.0.0.1:8000/v1',
    auth: 'none',
    capabilities: { files: false, structured_output: 'none', parallel_tools: false },
    quirks: {
      single_system: true,
      strict_calls: true,
      reasoning: 'none',
      forced_tools: false,
      no_tools: false,
      // The reply would include the stop sequence.
      stop: 0,
      end_user: false,
      parallel_switch: false,
      accepts: transformersFields,
    },
  },
  {
    // Observed: 0.0.78. Its paths have no version prefix.
    name: 'infinity',
    title: 'infinity',
    formats: ['embeddings', 'rerank'],
    baseUrl: 'http://127.0.0.1:7997',
    auth: 'none',
    models: [
      { match: '*', kind: 'embedding' },
      { match: '*rerank*', kind: 'rerank' },
    ],
  },
];
