import type { SettingTree, SetupTool } from '../tool.ts';
import type { SetupModel } from '../values.ts';

export const pi: SetupTool = {
  id: 'pi',
  name: 'pi',
  group: 'agents',
  formats: ['chat'],
  seen: '1.6.0',
  npm: {
    package: '@earendil-works/pi-coding-agent',
    tried: '2026-11-28',
    offline: { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' },
  },
  script: {
    commands: ['pi'],
    folders: ['~/.pi/agent'],
    places: [{ variable: 'PI_CODING_AGENT_DIR', folder: '~/.pi/agent' }],
    trial: (prompt) => ['-p', prompt],
  },
  steps: ({ apiUrl, providerId, keyVariable, model, smallModel }) => [
    {
      kind: 'file',
      place: { path: '~/.pi/agent/models.json' },
      format: 'json',
      settings: {
        providers: {
          [providerId]: {
            baseUrl: apiUrl,
            api: 'openai-completions',
            apiKey: `$${keyVariable}`,
            models: [...new Set([model, smallModel])].map(describe),
          },
        },
      },
    },
    {
      kind: 'file',
      place: { path: '~/.pi/agent/settings.json' },
      format: 'json',
      dialect: 'plain',
      settings: { defaultProvider: providerId, defaultModel: model.name },
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['pi']] },
  ],
};

function describe({ name, maxInputTokens, maxOutputTokens, canSeeImages }: SetupModel): SettingTree {
  return {
    id: name,
    input: canSeeImages ? ['text', 'image'] : ['text'],
    ...(maxInputTokens !== undefined && { contextWindow: maxInputTokens }),
    ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
  };
}
