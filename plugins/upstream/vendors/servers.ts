import type { Vendor } from '#core/config/catalog/catalog.ts';
import { kimiIds } from './hosts.ts';

/**
 * Messages endpoints of servers that sign no thinking. They take the thinking of newer Claude models, adaptive and with an effort; with a
 * budget it is refused, or the effort does not count. What they enforce of a schema is not what Claude does.
 */
const servedMessages = {
  reasoning: 'adaptive',
  signed_thinking: false,
  strict_calls: true,
  schema_subset: 'any',
} as const;

/** Members that transformers serve 5.24.0 uses. It ignores OpenAI's other members with 200, and rejects unknown ones with 422. */
const transformersMembers = [
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

/** Servers that operators run themselves. Their behaviour was observed on real servers, or read in their source: docs/upstreams.md. */
export const serverVendors: readonly Vendor[] = [
  {
    // Source: ollama/ollama 0.17.4 to 0.33.0-rc2, not run.
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
      // 0.17.4 refuses others.
      efforts: ['none', 'low', 'medium', 'high'],
      // It has no tool_choice in any format.
      forced_tools: false,
      no_tools: false,
      by_format: { messages: { ...servedMessages, late_system: false } },
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
    // Seen: 0.32.0.
    name: 'vllm',
    title: 'vLLM',
    formats: ['chat', 'responses', 'messages', 'completions', 'embeddings', 'rerank', 'transcriptions'],
    baseUrl: 'http://127.0.0.1:8000/v1',
    auth: 'none',
    models: [
      { match: '*embed*', kind: 'embedding' },
      { match: '*rerank*', kind: 'rerank' },
      { match: '*whisper*', kind: 'transcription' },
      { match: '*kimi*', quirks: kimiIds },
      { match: '*Kimi*', quirks: kimiIds },
    ],
    // Chat templates differ: several fail on a system message that is not the first.
    quirks: {
      single_system: true,
      strict_calls: true,
      cache_separator: 'cache_salt',
      // From 0.23.0 on its Messages endpoint takes efforts, and moves late system messages where the template needs them.
      by_format: { messages: { ...servedMessages, late_system: true, single_system: false, cache_separator: 'none' } },
    },
  },
  {
    // Seen: b11549. Its Responses refuses valid items and calls a truncated answer completed; its Messages ignores tool_choice none.
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
    // Seen: 5.24.0.
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
      // The answer would have their text.
      stop: 0,
      end_user: false,
      parallel_switch: false,
      accepts: transformersMembers,
    },
  },
  {
    // Seen: 0.0.78. Its paths have no version.
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
