import type { SetupTool } from '../tool.ts';

/** Zed reads no key from its settings file, only from the environment of its process or the keychain. */
export const zed: SetupTool = {
  id: 'zed',
  name: 'Zed',
  group: 'editors',
  formats: ['chat'],
  note: {
    en: 'Zed reads the key from the terminal it was started from, or from its own form for providers.',
    id: 'Zed mengambil API key dari terminal tempat ia dibuka, atau dari formulir provider-nya.',
  },
  script: {
    commands: ['zed', 'zeditor'],
    folders: ['~/.config/zed'],
    note: () => 'Start Zed from a terminal, so that it finds the key.',
  },
  steps: ({ apiUrl, providerId: id, model }) => [
    {
      kind: 'file',
      place: { path: '~/.config/zed/settings.json', windows: '%APPDATA%\\Zed\\settings.json' },
      format: 'json',
      settings: {
        language_models: {
          openai_compatible: {
            [providerOf(id)]: {
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
        agent: { default_model: { provider: providerOf(id), model: model.name } },
      },
    },
    { kind: 'environment', key: keyVariableOf(providerOf(id)) },
    { kind: 'command', commands: [['zed']] },
  ],
};

/** Zed derives the key's variable from the name of the provider, and names of shell variables cannot begin with a digit. */
function providerOf(id: string): string {
  return /^\d/.test(id) ? `gateway-${id}` : id;
}

/** The variable that Zed derives (convert_case, UpperSnake): a word ends where letters and digits meet. Source: open_ai_compatible.rs. */
function keyVariableOf(provider: string): string {
  const words = provider.toUpperCase().match(/[A-Z]+|\d+/g) ?? [];
  return [...words, 'API', 'KEY'].join('_');
}
