import type { SettingTree, SetupTool } from '../tool.ts';
import type { SetupModel } from '../values.ts';

/** `type = "openai"` selects Chat Completions. Every model needs a context window. */
export const kimiCode: SetupTool = {
  id: 'kimi-code',
  name: 'Kimi Code',
  group: 'agents',
  formats: ['chat'],
  seen: '2.1.0',
  npm: { package: '@moonshot-ai/kimi-code', tried: '2026-11-29' },
  script: {
    commands: ['kimi'],
    folders: ['~/.kimi-code'],
    places: [{ variable: 'KIMI_CODE_HOME', folder: '~/.kimi-code' }],
    trial: (prompt) => ['-p', prompt],
  },
  steps: ({ apiUrl, providerId, key, model, smallModel }) => [
    {
      kind: 'file',
      place: { path: '~/.kimi-code/config.toml' },
      format: 'toml',
      settings: {
        default_model: `${providerId}/${model.name}`,
        providers: { [providerId]: { type: 'openai', base_url: apiUrl, api_key: key } },
        models: Object.fromEntries(
          [model, smallModel].map((one) => [`${providerId}/${one.name}`, describe(providerId, one)]),
        ),
      },
    },
    { kind: 'command', commands: [['kimi']] },
  ],
};

function describe(provider: string, { name, maxInputTokens, canSeeImages }: SetupModel): SettingTree {
  return {
    provider,
    model: name,
    max_context_size: maxInputTokens ?? 128_000,
    ...(canSeeImages && { capabilities: ['image_in'] }),
  };
}
