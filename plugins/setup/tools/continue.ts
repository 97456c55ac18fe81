import type { SetupTool } from '../tool.ts';

/** VS Code, JetBrains and the command line read one file; the first model with the role chat is the default. */
export const continueDev: SetupTool = {
  id: 'continue',
  name: 'Continue',
  group: 'editors',
  formats: ['chat'],
  seen: '1.5.47',
  npm: {
    package: '@continuedev/cli',
    tried: '2026-11-22',
    allow: ['--auto'],
  },
  script: {
    commands: ['cn'],
    folders: ['~/.continue'],
    places: [{ variable: 'CONTINUE_GLOBAL_DIR', folder: '~/.continue' }],
    trial: (prompt) => ['-p', prompt],
  },
  steps: ({ apiUrl, key, providerName, model }) => [
    {
      kind: 'file',
      place: { path: '~/.continue/config.yaml' },
      format: 'yaml',
      identity: ['model', 'apiBase'],
      initial: ['name', 'version', 'schema'],
      at: 'start',
      settings: {
        name: providerName,
        version: '1.0.0',
        schema: 'v1',
        models: [
          {
            name: model.name,
            provider: 'openai',
            model: model.name,
            apiBase: apiUrl,
            apiKey: key,
            // Names that look like OpenAI's would go to another endpoint.
            useResponsesApi: false,
            roles: ['chat', 'edit', 'apply'],
            capabilities: ['tool_use', ...(model.canSeeImages ? ['image_input'] : [])],
          },
        ],
      },
    },
    { kind: 'command', commands: [['cn']] },
  ],
};
