import type { SetupTool } from '../tool.ts';

/** Its file takes no key: that comes from the environment of its process, or from the keychain through its own form. */
export const zed: SetupTool = {
  id: 'zed',
  name: 'Zed',
  group: 'editors',
  formats: ['chat'],
  isScriptable: false,
  note: 'setup.note.zed',
  steps: ({ apiUrl, providerId, keyVariable, model }) => [
    {
      kind: 'file',
      place: { path: '~/.config/zed/settings.json', windows: '%APPDATA%\\Zed\\settings.json' },
      format: 'json',
      settings: {
        language_models: {
          openai_compatible: {
            [providerId]: {
              api_url: apiUrl,
              available_models: [
                {
                  name: model.name,
                  display_name: model.name,
                  max_tokens: model.maxInputTokens ?? 128_000,
                  ...(model.maxOutputTokens !== undefined && { max_output_tokens: model.maxOutputTokens }),
                  capabilities: {
                    tools: true,
                    images: model.canSeeImages,
                    parallel_tool_calls: true,
                    prompt_cache_key: false,
                  },
                },
              ],
            },
          },
        },
        agent: { default_model: { provider: providerId, model: model.name } },
      },
    },
    { kind: 'environment', variables: {}, key: keyVariable },
    { kind: 'command', commands: [['zed']] },
  ],
};
