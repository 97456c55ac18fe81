import type { SetupTool } from '../tool.ts';

/** Requests come from Cursor's servers, so these must reach the gateway. */
export const cursor: SetupTool = {
  id: 'cursor',
  name: 'Cursor',
  group: 'editors',
  formats: ['chat'],
  note: 'setup.note.cursor',
  steps: ({ apiUrl, key, model }) => [
    {
      kind: 'form',
      where: 'Cursor Settings › Models › API Keys',
      fields: [
        { label: 'OpenAI API Key', value: key },
        { label: 'Override OpenAI Base URL', value: apiUrl },
        { label: 'Add model', value: model.name },
      ],
    },
  ],
};
