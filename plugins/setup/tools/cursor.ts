import type { SetupTool } from '../tool.ts';

/** Requests come from Cursor's servers, which must be able to reach the gateway. */
export const cursor: SetupTool = {
  id: 'cursor',
  name: 'Cursor',
  group: 'editors',
  formats: ['chat'],
  note: {
    en: 'Cursor calls from its own servers, so this address must be public and HTTPS. Agent mode and Tab keep their own models.',
    id: 'Cursor memanggil dari servernya sendiri, jadi alamat ini harus publik dan HTTPS. Mode Agent dan Tab tetap memakai modelnya sendiri.',
  },
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
