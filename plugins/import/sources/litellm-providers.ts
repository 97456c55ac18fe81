export interface Provider {
  /** Preset for endpoints on the operator's own hosts. */
  readonly vendor?: string;
  readonly format?: 'chat' | 'messages' | 'gemini';
  /** Default of `api_base`; undefined if `api_base` is required. */
  readonly url?: string;
  /** Path segment that LiteLLM adds between `api_base` and the endpoint's path. */
  readonly suffix?: string;
  /** Variable that has the key if `api_key` is unset; default: PROVIDER_API_KEY. */
  readonly keyVariable?: string;
  readonly isKeyless?: true;
}

/** Providers by their prefix in `model`. Source: docs.litellm.ai, "Providers". */
export const providers: Readonly<Record<string, Provider | undefined>> = {
  openai: { url: 'https://api.openai.com/v1' },
  custom_openai: {},
  openai_like: {},
  litellm_proxy: {},
  anthropic: { url: 'https://api.anthropic.com/v1', format: 'messages', suffix: '/v1' },
  gemini: { url: 'https://generativelanguage.googleapis.com/v1beta', format: 'gemini' },
  azure: { vendor: 'azure-openai', suffix: '/openai/v1' },
  deepseek: { url: 'https://api.deepseek.com/v1' },
  moonshot: { url: 'https://api.moonshot.ai/v1' },
  dashscope: { url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1' },
  zai: { url: 'https://api.z.ai/api/paas/v4' },
  minimax: { url: 'https://api.minimax.io/v1' },
  xai: { url: 'https://api.x.ai/v1' },
  mistral: { url: 'https://api.mistral.ai/v1' },
  openrouter: { url: 'https://openrouter.ai/api/v1' },
  groq: { url: 'https://api.groq.com/openai/v1' },
  cerebras: { url: 'https://api.cerebras.ai/v1' },
  together_ai: { url: 'https://api.together.xyz/v1', keyVariable: 'TOGETHERAI_API_KEY' },
  fireworks_ai: { url: 'https://api.fireworks.ai/inference/v1' },
  perplexity: { url: 'https://api.perplexity.ai', keyVariable: 'PERPLEXITYAI_API_KEY' },
  deepinfra: { url: 'https://api.deepinfra.com/v1/openai' },
  nvidia_nim: { url: 'https://integrate.api.nvidia.com/v1' },
  ollama: { vendor: 'ollama', url: 'http://127.0.0.1:11434/v1', suffix: '/v1', isKeyless: true },
  ollama_chat: { vendor: 'ollama', url: 'http://127.0.0.1:11434/v1', suffix: '/v1', isKeyless: true },
  hosted_vllm: { vendor: 'vllm', isKeyless: true },
  lm_studio: { isKeyless: true },
};

const providersByModelName: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^(?:gpt-|chatgpt-|o\d|text-embedding-|dall-e-|whisper-|tts-)/, 'openai'],
  [/^claude-/, 'anthropic'],
];

export function splitProvider(model: string, customProvider: string | undefined): [provider: string, model: string] {
  const slash = model.indexOf('/');
  const prefix = slash === -1 ? '' : model.slice(0, slash);
  if (customProvider !== undefined) return [customProvider, prefix === customProvider ? model.slice(slash + 1) : model];
  if (prefix !== '') return [prefix, removeEndpointPrefix(prefix, model.slice(slash + 1))];
  return [providersByModelName.find(([pattern]) => pattern.test(model))?.[1] ?? '', model];
}

/** Prefixes such as `responses/` or Bedrock's `converse/` choose an endpoint; here the format does. */
function removeEndpointPrefix(prefix: string, model: string): string {
  const endpointPrefixes = {
    openai: /^(?:responses|chat)\//,
    azure: /^(?:responses|o_series|gpt5_series)\//,
    bedrock: /^(?:converse|invoke)\//,
  };
  return Object.hasOwn(endpointPrefixes, prefix)
    ? model.replace(endpointPrefixes[prefix as keyof typeof endpointPrefixes], '')
    : model;
}

export function explainUnlistedProvider(name: string): string {
  if (name === '') return 'names no provider: write PROVIDER/MODEL, or add the upstream yourself';
  return `"${name.slice(0, 40)}" has no preset here: if its endpoint speaks Chat Completions, add an upstream with format: chat and base_url`;
}

export function parseVariable(text: string): string | undefined {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1];
}
