import type { SetupTool } from '../tool.ts';

export const jetbrains: SetupTool = {
  id: 'jetbrains',
  name: 'JetBrains AI Assistant',
  group: 'editors',
  formats: ['chat'],
  steps: ({ apiUrl, key, model }) => [
    {
      kind: 'form',
      where: 'Settings › Tools › AI Assistant › Providers & API keys › OpenAI-compatible',
      fields: [
        { label: 'URL', value: apiUrl },
        { label: 'API Key', value: key },
        { label: 'Model', value: model.name },
      ],
    },
  ],
};
