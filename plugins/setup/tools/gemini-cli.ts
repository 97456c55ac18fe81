import type { FileStep, SetupTool } from '../tool.ts';

/** Without `selectedType` Gemini CLI exits with "Invalid auth method selected" as soon as the base URL is set. */
const settings: FileStep = {
  kind: 'file',
  place: { path: '~/.gemini/settings.json' },
  format: 'json',
  dialect: 'comments',
  settings: { security: { auth: { selectedType: 'gemini-api-key' } } },
};

/** The script puts the variables into Gemini CLI's own file: in a shell's profile they would redirect Google's SDKs as well. */
export const geminiCli: SetupTool = {
  id: 'gemini-cli',
  name: 'Gemini CLI',
  group: 'agents',
  order: 6,
  formats: ['gemini'],
  seen: '0.61.0',
  npm: {
    package: '@google/gemini-cli',
    tried: '2026-11-22',
    allow: ['--yolo'],
  },
  note: {
    en: 'Gemini CLI requires HTTPS, except on this machine.',
    id: 'Gemini CLI memerlukan HTTPS, kecuali di mesin ini.',
  },
  script: {
    commands: ['gemini'],
    folders: ['~/.gemini'],
    places: [{ variable: 'GEMINI_CLI_HOME', folder: '~' }],
    trial: (prompt) => ['-p', prompt, '--skip-trust'],
    steps: ({ baseUrl, key, model }) => [
      settings,
      {
        kind: 'lines',
        format: 'block',
        place: { path: '~/.gemini/.env' },
        lines: [`GOOGLE_GEMINI_BASE_URL=${baseUrl}`, `GEMINI_MODEL=${model.name}`, `GEMINI_API_KEY=${key}`],
      },
      { kind: 'command', commands: [['gemini']] },
    ],
  },
  steps: ({ baseUrl, model }) => [
    settings,
    {
      kind: 'environment',
      variables: { GOOGLE_GEMINI_BASE_URL: baseUrl, GEMINI_MODEL: model.name },
      key: 'GEMINI_API_KEY',
    },
    { kind: 'command', commands: [['gemini']] },
  ],
};
