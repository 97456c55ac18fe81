import type { SetupTool } from '../tool.ts';

/** Junie needs the complete URL of the endpoint. */
export const junie: SetupTool = {
  id: 'junie',
  name: 'Junie CLI',
  group: 'agents',
  formats: ['responses'],
  note: {
    en: 'Choose the model in Junie as custom:{provider}.',
    id: 'Pilih modelnya di Junie sebagai custom:{provider}.',
  },
  script: {
    commands: ['junie'],
    folders: ['~/.junie'],
    note: ({ providerId }) => `Choose the model in Junie as custom:${providerId}.`,
  },
  steps: ({ apiUrl, providerId, keyVariable, model, smallModel }) => [
    {
      kind: 'file',
      place: {
        path: `~/.junie/models/${providerId}.json`,
      },
      format: 'json',
      isOwn: true,
      settings: {
        id: model.name,
        baseUrl: `${apiUrl}/responses`,
        apiType: 'OpenAIResponses',
        apiKey: `\${${keyVariable}}`,
        fasterModel: { id: smallModel.name },
      },
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['junie']] },
  ],
};
