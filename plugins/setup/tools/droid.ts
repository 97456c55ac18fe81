import type { SetupTool } from '../tool.ts';

/** The id of a model depends on its position: entries are appended, never inserted. */
export const droid: SetupTool = {
  id: 'droid',
  name: 'Droid',
  group: 'agents',
  formats: ['chat'],
  seen: '0.215.0',
  npm: {
    package: 'droid',
    tried: '2026-11-22',
    allow: ['--auto', 'high'],
    offline: { FACTORY_AIRGAP_ENABLED: 'true', FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false' },
    keeps: [/^\.factory\/logs\//],
  },
  note: {
    en: 'Put the model at the end of customModels. Other entries keep their position.',
    id: 'Taruh model di akhir customModels, supaya urutan yang lain tetap.',
  },
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
