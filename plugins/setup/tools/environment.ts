import type { SetupTool } from '../tool.ts';

/** Variables that most SDKs and programs read. They redirect every program that is started with them. */
export const environment: SetupTool = {
  id: 'environment',
  name: 'Environment variables',
  nameText: 'setup.environment_name',
  group: 'libraries',
  formats: ['chat', 'responses', 'messages'],
  seen: '',
  note: {
    en: 'Every program started from this terminal uses these addresses.',
    id: 'Semua program dari terminal ini ikut memakai alamat tersebut.',
  },
  texts: {
    en: {
      'setup.environment_name': 'Environment variables',
      'setup.note.environment_openai': 'For programs with an OpenAI SDK.',
      'setup.note.environment_anthropic': 'For programs with an Anthropic SDK. The Vercel AI SDK needs /v1 at the end.',
    },
    id: {
      'setup.environment_name': 'Variabel environment',
      'setup.note.environment_openai': 'Untuk program dengan SDK OpenAI.',
      'setup.note.environment_anthropic': 'Untuk program dengan SDK Anthropic. Vercel AI SDK perlu /v1 di akhir.',
    },
  },
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
