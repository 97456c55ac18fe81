import type { SetupTool, Word } from '../tool.ts';
import type { SetupModel } from '../values.ts';

/** Crush's settings are commands in the syntax of Bash. */
export const crush: SetupTool = {
  id: 'crush',
  name: 'Crush',
  group: 'agents',
  formats: ['chat'],
  script: {
    commands: ['crush'],
    folders: ['~/.config/crush'],
    places: [{ variable: 'CRUSH_GLOBAL_CONFIG', folder: '~/.config/crush' }],
  },
  steps: ({ apiUrl, providerId, keyVariable, model, smallModel }) => [
    {
      kind: 'command',
      place: { path: '~/.config/crush/crushrc' },
      commands: [
        addProvider(providerId, apiUrl, keyVariable),
        ...[...new Set([model, smallModel])].map((one) => addModel(providerId, one)),
        ['model', 'large', `${providerId}/${model.name}`],
        ['model', 'small', `${providerId}/${smallModel.name}`],
      ],
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['crush']] },
  ],
};

function addProvider(id: string, url: string, keyVariable: string): Word[] {
  const words = ['provider', 'add', id, '--type', 'openai-compat', '--base-url', url, '--api-key'];
  return [...words, { variable: keyVariable }];
}

function addModel(provider: string, { name, maxInputTokens, maxOutputTokens, canSeeImages }: SetupModel): Word[] {
  const window = maxInputTokens === undefined ? [] : ['--context-window', String(maxInputTokens)];
  const output = maxOutputTokens === undefined ? [] : ['--default-max-tokens', String(maxOutputTokens)];
  const images = canSeeImages ? ['--supports-images', 'true'] : [];
  return ['model', 'add', `${provider}/${name}`, ...window, ...output, ...images];
}
