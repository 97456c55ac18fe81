import type { SetupTool } from '../tool.ts';

/** Without `selectedType` it ends with "Invalid auth method selected" as soon as the base URL is set. */
export const geminiCli: SetupTool = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  group: 'agents',
  formats: ['gemini'],
  seen: '0.61.0',
  isScriptable: true,
  note: 'setup.note.gemini_cli',
  steps: ({ baseUrl, model }) => [
    {
      kind: 'file',
      place: { path: '~/.gemini/settings.json', windows: '%USERPROFILE%\\.gemini\\settings.json' },
      format: 'json',
      settings: { security: { auth: { selectedType: 'gemini-api-key' } } },
    },
    {
      kind: 'environment',
      variables: { GOOGLE_GEMINI_BASE_URL: baseUrl, GEMINI_MODEL: model.name },
      key: 'GEMINI_API_KEY',
    },
    { kind: 'command', commands: [['gemini']] },
  ],
};
