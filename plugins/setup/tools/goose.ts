import type { SetupTool } from '../tool.ts';

/** Goose ignores keys in config.yaml and takes them from the environment. */
export const goose: SetupTool = {
  id: 'goose',
  name: 'Goose',
  group: 'agents',
  formats: ['chat'],
  script: { commands: ['goose'], folders: ['~/.config/goose'] },
  steps: ({ apiUrl, providerId, providerName, keyVariable, model, smallModel }) => [
    {
      kind: 'file',
      place: {
        path: `~/.config/goose/custom_providers/${providerId}.json`,
        windows: `%APPDATA%\\Block\\goose\\config\\custom_providers\\${providerId}.json`,
      },
      format: 'json',
      isOwn: true,
      settings: {
        name: providerId,
        engine: 'openai',
        display_name: providerName,
        api_key_env: keyVariable,
        // The complete URL: Goose takes any path other than /v1 for the endpoint's path. Source: providers/openai.rs.
        base_url: `${apiUrl}/chat/completions`,
        models: [...new Set([model, smallModel])].map(({ name, maxInputTokens }) => ({
          name,
          context_limit: maxInputTokens ?? 128_000,
        })),
        supports_streaming: true,
      },
    },
    {
      kind: 'file',
      place: {
        path: '~/.config/goose/config.yaml',
        windows: '%APPDATA%\\Block\\goose\\config\\config.yaml',
      },
      format: 'yaml',
      settings: { GOOSE_PROVIDER: providerId, GOOSE_MODEL: model.name },
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['goose', 'session']] },
  ],
};
