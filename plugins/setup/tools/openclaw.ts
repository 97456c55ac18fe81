import type { SettingTree, SetupTool } from '../tool.ts';
import type { SetupModel } from '../values.ts';

/** OpenClaw's service does not see shell variables and refuses a file that refers to a missing one, so the key is in the file. */
export const openclaw: SetupTool = {
  id: 'openclaw',
  name: 'OpenClaw',
  group: 'agents',
  formats: ['chat'],
  seen: '2026.9.6',
  npm: {
    package: 'openclaw',
    tried: '2026-11-29',
    workspace: '.openclaw/workspace',
    // Transcripts.
    keeps: [/^\.openclaw\/agents\/main\/agent\/openclaw-agent\.sqlite/],
  },
  script: {
    commands: ['openclaw'],
    folders: ['~/.openclaw'],
    places: [{ variable: 'OPENCLAW_STATE_DIR', folder: '~/.openclaw' }],
    // In a separate session, not in the user's session with the agent.
    trial: (prompt) => ['agent', '--local', '--agent', 'main', '--session-id', 'setup-check', '--message', prompt],
  },
  steps: ({ apiUrl, providerId, key, model, smallModel }) => [
    {
      kind: 'file',
      place: { path: '~/.openclaw/openclaw.json' },
      format: 'json',
      settings: {
        models: {
          providers: {
            [providerId]: {
              baseUrl: apiUrl,
              apiKey: key,
              api: 'openai-completions',
              models: [...new Set([model, smallModel])].map(describe),
            },
          },
        },
        agents: { defaults: { model: { primary: `${providerId}/${model.name}` } } },
      },
    },
    { kind: 'command', commands: [['openclaw', 'agent', '--agent', 'main', '--message', 'Hello']] },
  ],
};

function describe({ name, maxInputTokens, maxOutputTokens, canSeeImages }: SetupModel): SettingTree {
  return {
    id: name,
    name,
    input: canSeeImages ? ['text', 'image'] : ['text'],
    ...(maxInputTokens !== undefined && { contextWindow: maxInputTokens }),
    ...(maxOutputTokens !== undefined && { maxTokens: maxOutputTokens }),
  };
}
