import type { SetupTool } from '../tool.ts';

/** Copilot CLI is configured by variables only. With the base URL set it needs no login at GitHub. */
export const copilotCli: SetupTool = {
  id: 'copilot-cli',
  name: 'GitHub Copilot CLI',
  group: 'agents',
  order: 5,
  formats: ['chat'],
  seen: '1.0.102',
  npm: {
    package: '@github/copilot',
    tried: '2026-11-22',
    allow: ['--allow-all-tools'],
    offline: { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
  },
  script: { commands: ['copilot'], folders: ['~/.copilot'], trial: (prompt) => ['-p', prompt] },
  steps: ({ apiUrl, model }) => [
    {
      kind: 'environment',
      variables: {
        COPILOT_PROVIDER_BASE_URL: apiUrl,
        COPILOT_MODEL: model.name,
        ...(model.maxInputTokens !== undefined && {
          COPILOT_PROVIDER_MAX_PROMPT_TOKENS: String(model.maxInputTokens),
        }),
        ...(model.maxOutputTokens !== undefined && {
          COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: String(model.maxOutputTokens),
        }),
      },
      key: 'COPILOT_PROVIDER_API_KEY',
    },
    { kind: 'command', commands: [['copilot']] },
  ],
};
