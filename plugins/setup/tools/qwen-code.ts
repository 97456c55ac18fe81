import type { SetupTool } from '../tool.ts';

export const qwenCode: SetupTool = {
  id: 'qwen-code',
  name: 'Qwen Code',
  group: 'agents',
  formats: ['chat'],
  seen: '0.24.4',
  npm: {
    package: '@qwen-code/qwen-code',
    tried: '2026-11-22',
    allow: ['--yolo'],
  },
  script: {
    commands: ['qwen'],
    folders: ['~/.qwen'],
    places: [{ variable: 'QWEN_HOME', folder: '~/.qwen' }],
    trial: (prompt) => ['-p', prompt],
  },
  steps: ({ apiUrl, keyVariable, model, smallModel }) => [
    {
      kind: 'file',
      place: { path: '~/.qwen/settings.json' },
      format: 'json',
      dialect: 'comments',
      identity: ['id', 'baseUrl'],
      settings: {
        modelProviders: {
          openai: [...new Set([model, smallModel])].map(({ name, maxInputTokens }) => ({
            id: name,
            name,
            baseUrl: apiUrl,
            envKey: keyVariable,
            ...(maxInputTokens !== undefined && { generationConfig: { contextWindowSize: maxInputTokens } }),
          })),
        },
        security: { auth: { selectedType: 'openai' } },
        model: { name: model.name },
        fastModel: smallModel.name,
      },
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['qwen']] },
  ],
};
