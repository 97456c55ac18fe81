import type { SetupTool } from '../tool.ts';

/** How agent frameworks receive the base URL: some classes of a framework need it with `/v1`, others without (docs/clients.md). */
export const frameworks: SetupTool = {
  id: 'frameworks',
  name: 'Agent frameworks',
  nameText: 'setup.frameworks_name',
  group: 'libraries',
  order: 101,
  formats: ['chat', 'responses', 'messages'],
  seen: '',
  note: {
    en: 'Pass your key and the model to the same class. Spring AI before 2.0 wants the address without /v1.',
    id: 'Isi API key kamu dan model di kelas yang sama. Spring AI sebelum 2.0 perlu alamat tanpa /v1.',
  },
  texts: {
    en: {
      'setup.frameworks_name': 'Agent frameworks',
    },
    id: {
      'setup.frameworks_name': 'Framework agen',
    },
  },
  steps: ({ apiUrl, keyVariable, providerId, model }) => [
    { kind: 'environment', key: keyVariable },
    {
      kind: 'form',
      where: 'Base URL',
      fields: [
        { label: 'LangGraph, ChatOpenAI', value: `configuration: { baseURL: "${apiUrl}" }` },
        { label: 'Google ADK, LiteLlm', value: `"openai/${model.name}", api_base="${apiUrl}"` },
        { label: 'OpenAI Agents SDK, client', value: `base_url="${apiUrl}"` },
        { label: 'Spring AI 2.0', value: `spring.ai.openai.base-url=${apiUrl}` },
        { label: 'Agent Framework, OpenAIChatClient', value: `base_url="${apiUrl}"` },
        { label: 'Semantic Kernel, AsyncOpenAI', value: `base_url="${apiUrl}"` },
        { label: 'Strands Agents, OpenAIModel', value: `client_args={"base_url": "${apiUrl}"}` },
        { label: 'Haystack, OpenAIChatGenerator', value: `api_base_url="${apiUrl}"` },
        { label: 'Agno, OpenAIChat', value: `base_url="${apiUrl}"` },
        { label: 'Mastra', value: `{ id: "${providerId}/${model.name}", url: "${apiUrl}" }` },
      ],
    },
  ],
};
