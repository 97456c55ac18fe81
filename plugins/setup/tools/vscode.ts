import type { SetupTool } from '../tool.ts';

/** VS Code keeps the key in its own store, into which it must be typed. */
export const vscode: SetupTool = {
  id: 'vscode',
  name: 'VS Code chat',
  group: 'editors',
  formats: ['chat'],
  note: {
    en: 'VS Code asks for the key in its own form and stores it.',
    id: 'VS Code meminta API key di formulirnya sendiri dan menyimpannya di sana.',
  },
  steps: ({ apiUrl, key, providerName, model }) => [
    {
      kind: 'file',
      place: {
        path: '~/.config/Code/User/chatLanguageModels.json',
        macos: '~/Library/Application Support/Code/User/chatLanguageModels.json',
        windows: '%APPDATA%\\Code\\User\\chatLanguageModels.json',
      },
      format: 'json',
      settings: [
        {
          name: providerName,
          vendor: 'customendpoint',
          apiType: 'chat-completions',
          models: [
            {
              id: model.name,
              name: model.name,
              url: `${apiUrl}/chat/completions`,
              toolCalling: true,
              vision: model.canSeeImages,
              maxInputTokens: model.maxInputTokens ?? 128_000,
              maxOutputTokens: model.maxOutputTokens ?? 16_000,
            },
          ],
        },
      ],
    },
    {
      kind: 'form',
      where: 'Chat: Manage Language Models',
      fields: [{ label: 'API key', value: key }],
    },
  ],
};
