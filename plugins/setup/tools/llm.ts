import type { SetupTool } from '../tool.ts';

/** Asks for the key itself, and keeps it in its own file. */
export const llm: SetupTool = {
  id: 'llm',
  name: 'llm',
  group: 'agents',
  formats: ['chat'],
  isScriptable: true,
  steps: ({ apiUrl, providerId, model }) => [
    {
      kind: 'file',
      place: {
        path: '~/.config/io.datasette.llm/extra-openai-models.yaml',
        macos: '~/Library/Application Support/io.datasette.llm/extra-openai-models.yaml',
      },
      format: 'yaml',
      settings: [
        {
          model_id: model.name,
          model_name: model.name,
          api_base: apiUrl,
          api_key_name: providerId,
          supports_tools: true,
        },
      ],
    },
    {
      kind: 'command',
      commands: [
        ['llm', 'keys', 'set', providerId],
        ['llm', 'models', 'default', model.name],
      ],
    },
    { kind: 'command', commands: [['llm', 'Hello']] },
  ],
};
