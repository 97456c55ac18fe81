import type { SettingTree, SetupTool } from '../tool.ts';
import type { SetupModel, SetupValues } from '../values.ts';

/** OpenCode and Kilo Code read the same settings. Every model must be listed. */
function settingsOf({ apiUrl, providerId, providerName, keyVariable, model, smallModel }: SetupValues): SettingTree {
  return {
    provider: {
      [providerId]: {
        npm: '@ai-sdk/openai-compatible',
        name: providerName,
        options: { baseURL: apiUrl, apiKey: `{env:${keyVariable}}` },
        models: Object.fromEntries([model, smallModel].map((listed) => [listed.name, describe(listed)])),
      },
    },
    model: `${providerId}/${model.name}`,
    small_model: `${providerId}/${smallModel.name}`,
  };
}

/** Without a limit, the tools never compact a long conversation; without modalities, they omit images from requests. */
function describe({ name, maxInputTokens, maxOutputTokens, canSeeImages }: SetupModel): SettingTree {
  return {
    name,
    ...(maxInputTokens !== undefined && { limit: { context: maxInputTokens, output: maxOutputTokens ?? 32_000 } }),
    ...(canSeeImages && { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } }),
  };
}

/** If both files exist, both are read, and the one with comments (`.jsonc`) wins. */
function stepsOf(name: string): SetupTool['steps'] {
  const file = `~/.config/${name}/${name}.json`;
  return (values) => [
    { kind: 'file', place: { path: file, preferred: `${file}c` }, format: 'json', settings: settingsOf(values) },
    { kind: 'environment', key: values.keyVariable },
    { kind: 'command', commands: [[name]] },
  ];
}

export const opencode: SetupTool = {
  id: 'opencode',
  name: 'OpenCode',
  group: 'agents',
  order: 3,
  formats: ['chat'],
  seen: '1.18.33',
  npm: {
    package: 'opencode-ai',
    tried: '2026-11-22',
    offline: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
  },
  script: { commands: ['opencode'], folders: ['~/.config/opencode'], trial: (prompt) => ['run', prompt] },
  steps: stepsOf('opencode'),
};

/** The extension of VS Code reads the file of the command-line tool. */
export const kilo: SetupTool = {
  id: 'kilo',
  name: 'Kilo Code',
  group: 'agents',
  formats: ['chat'],
  seen: '7.7.7',
  npm: {
    package: '@kilocode/cli',
    tried: '2026-11-22',
    offline: { KILO_DISABLE_MODELS_FETCH: '1', KILO_DISABLE_AUTOUPDATE: '1', KILO_TELEMETRY_LEVEL: 'off' },
  },
  script: {
    commands: ['kilo', 'kilocode'],
    folders: ['~/.config/kilo'],
    trial: (prompt) => ['run', '--auto', prompt],
  },
  steps: stepsOf('kilo'),
};
