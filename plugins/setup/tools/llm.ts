import type { FilePlace, FileStep, SetupTool } from '../tool.ts';
import type { SetupValues } from '../values.ts';

const folder = '~/.config/io.datasette.llm';
const macosFolder = '~/Library/Application Support/io.datasette.llm';
const windowsFolder = '%APPDATA%\\io.datasette.llm';

/** `llm keys set` asks for the key, which a script cannot answer, so the script writes the files of the commands on the page. */
export const llm: SetupTool = {
  id: 'llm',
  name: 'llm',
  group: 'agents',
  formats: ['chat'],
  seen: '0.36',
  pypi: { package: 'llm', tried: '2026-11-29', takesNoTask: true },
  script: {
    commands: ['llm'],
    folders: [folder],
    places: [folder, macosFolder, windowsFolder].map((one) => ({ variable: 'LLM_USER_PATH', folder: one })),
    trial: (prompt) => [prompt],
    steps: (values) => [
      modelsOf(values),
      {
        kind: 'file',
        place: placeOf('keys.json'),
        format: 'json',
        dialect: 'plain',
        settings: { [values.providerId]: values.key },
      },
      { kind: 'lines', format: 'text', place: placeOf('default_model.txt'), lines: [values.model.name] },
      { kind: 'command', commands: [['llm', 'Hello']] },
    ],
  },
  steps: (values) => [
    modelsOf(values),
    {
      kind: 'command',
      commands: [
        ['llm', 'keys', 'set', values.providerId],
        ['llm', 'models', 'default', values.model.name],
      ],
    },
    { kind: 'command', commands: [['llm', 'Hello']] },
  ],
};

function modelsOf({ apiUrl, providerId, model }: SetupValues): FileStep {
  return {
    kind: 'file',
    place: placeOf('extra-openai-models.yaml'),
    format: 'yaml',
    identity: ['model_id', 'api_base'],
    settings: [
      {
        model_id: model.name,
        model_name: model.name,
        api_base: apiUrl,
        api_key_name: providerId,
        supports_tools: true,
        ...(model.canSeeImages && { vision: true }),
      },
    ],
  };
}

function placeOf(name: string): FilePlace {
  return { path: `${folder}/${name}`, macos: `${macosFolder}/${name}`, windows: `${windowsFolder}\\${name}` };
}
