import type { ScriptedStep, SetupTool } from '../tool.ts';
import type { SetupValues } from '../values.ts';

const provider = 'openai-compatible';

/**
 * The command line, VS Code and JetBrains share one store, which the tool's own command writes. The script writes the store
 * instead: the command takes the key as an argument, which every user of the machine can read while it runs.
 */
export const cline: SetupTool = {
  id: 'cline',
  name: 'Cline',
  group: 'agents',
  order: 4,
  formats: ['chat'],
  seen: '3.0.65',
  npm: { package: 'cline', tried: '2026-11-22' },
  note: {
    en: 'Restart editors that run Cline: they keep the old settings.',
    id: 'Buka ulang editor yang menjalankan Cline; pengaturan lama masih dipakai.',
  },
  script: {
    commands: ['cline'],
    folders: ['~/.cline'],
    places: [{ variable: 'CLINE_DATA_DIR', folder: '~/.cline/data' }],
    trial: (prompt) => [prompt],
    note: () => 'Restart editors that run Cline: they keep the old settings.',
    steps: (values) => [storeOf(values), { kind: 'command', commands: [['cline']] }],
  },
  steps: ({ apiUrl, keyVariable, model }) => [
    { kind: 'environment', key: keyVariable },
    {
      kind: 'command',
      commands: [['cline', 'auth', '-p', provider, '-k', { variable: keyVariable }, '-m', model.name, '-b', apiUrl]],
    },
  ],
};

/** The store in Cline's own form. Cline ignores a store without `updatedAt`, which it renews at every start. */
function storeOf({ apiUrl, key, model }: SetupValues): ScriptedStep {
  return {
    kind: 'file',
    place: {
      path: '~/.cline/data/settings/providers.json',
    },
    format: 'json',
    dialect: 'plain',
    settings: {
      version: 1,
      lastUsedProvider: provider,
      modes: {},
      providers: {
        [provider]: {
          settings: { provider, apiKey: key, model: model.name, baseUrl: apiUrl },
          updatedAt: '2026-01-01T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    },
  };
}
