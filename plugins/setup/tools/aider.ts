import type { SetupTool } from '../tool.ts';

/** The prefix `openai/` of a model's name selects Chat Completions. */
export const aider: SetupTool = {
  id: 'aider',
  name: 'Aider',
  group: 'agents',
  formats: ['chat'],
  seen: '0.86.2',
  pypi: { package: 'aider-chat', tried: '2026-11-29', takesNoTask: true },
  script: {
    commands: ['aider'],
    folders: ['~/.aider'],
    trial: (prompt) => ['--message', prompt, '--no-git', '--yes-always', '--no-check-update'],
  },
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
