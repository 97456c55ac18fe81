import type { SetupTool } from '../tool.ts';

/** The variables that most SDKs and programs read. They redirect every program that is started with them. */
export const environment: SetupTool = {
  id: 'environment',
  name: 'Environment variables',
  nameText: 'setup.environment_name',
  group: 'libraries',
  formats: ['chat', 'responses', 'messages'],
  seen: '',
  note: 'setup.note.environment',
  script: { commands: [], folders: [], isOnRequest: true },
  steps: ({ baseUrl, apiUrl }) => [
    {
      kind: 'environment',
      variables: { OPENAI_BASE_URL: apiUrl, OPENAI_API_BASE: apiUrl },
      key: 'OPENAI_API_KEY',
      note: 'setup.note.environment_openai',
    },
    {
      kind: 'environment',
      variables: { ANTHROPIC_BASE_URL: baseUrl },
      key: 'ANTHROPIC_AUTH_TOKEN',
      note: 'setup.note.environment_anthropic',
    },
  ],
};
