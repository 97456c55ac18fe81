import type { SetupTool } from '../tool.ts';

/** The variables count only with the option, and are not saved. */
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
