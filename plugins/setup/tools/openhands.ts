import type { SetupTool } from '../tool.ts';

/** OpenHands reads these variables only with the option, and does not save them. */
export const openhands: SetupTool = {
  id: 'openhands',
  name: 'OpenHands CLI',
  group: 'agents',
  formats: ['chat'],
  steps: ({ apiUrl, model }) => [
    {
      kind: 'environment',
      variables: { LLM_MODEL: `openai/${model.name}`, LLM_BASE_URL: apiUrl },
      key: 'LLM_API_KEY',
    },
    { kind: 'command', commands: [['openhands', '--override-with-envs']] },
  ],
};
