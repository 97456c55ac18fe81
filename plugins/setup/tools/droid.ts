import type { SetupTool } from '../tool.ts';

/** The id of a model depends on its position: entries are appended, never inserted. */
export const droid: SetupTool = {
  id: 'droid',
  name: 'Droid',
  group: 'agents',
  formats: ['chat'],
  seen: '0.215.0',
  note: 'setup.note.droid',
  script: {
    commands: ['droid'],
    folders: ['~/.factory'],
    trial: (prompt, { model }) => ['exec', '-m', model.name, prompt],
    note: ({ model }) => `Choose ${model.name} in Droid with /model: it starts with a model of its own.`,
  },
  steps: ({ apiUrl, keyVariable, model }) => [
    {
      kind: 'file',
      place: { path: '~/.factory/settings.json' },
      format: 'json',
      identity: ['model', 'baseUrl'],
      settings: {
        customModels: [
          {
            model: model.name,
            displayName: model.name,
            baseUrl: apiUrl,
            apiKey: `\${${keyVariable}}`,
            provider: 'generic-chat-completion-api',
            ...(model.maxOutputTokens !== undefined && { maxOutputTokens: model.maxOutputTokens }),
          },
        ],
      },
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['droid', 'exec', '-m', model.name, 'Hello']] },
  ],
};
