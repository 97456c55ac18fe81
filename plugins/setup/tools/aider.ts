import type { SetupTool } from '../tool.ts';

/** `openai/` in front of a name selects Chat Completions. */
export const aider: SetupTool = {
  id: 'aider',
  name: 'Aider',
  group: 'agents',
  formats: ['chat'],
  script: { commands: ['aider'], folders: ['~/.aider'] },
  steps: ({ apiUrl, key, model, smallModel }) => [
    {
      kind: 'file',
      place: { path: '~/.aider.conf.yml' },
      format: 'yaml',
      settings: {
        'openai-api-base': apiUrl,
        'openai-api-key': key,
        model: `openai/${model.name}`,
        'weak-model': `openai/${smallModel.name}`,
        'show-model-warnings': false,
      },
    },
    { kind: 'command', commands: [['aider']] },
  ],
};
