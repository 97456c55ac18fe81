import type { SetupTool } from '../tool.ts';

/** `env` of the user's settings beats the shell; an empty ANTHROPIC_API_KEY keeps a stale one from being sent beside the token. */
export const claudeCode: SetupTool = {
  id: 'claude-code',
  name: 'Claude Code',
  group: 'agents',
  order: 1,
  formats: ['messages'],
  seen: '2.1.332',
  npm: {
    package: '@anthropic-ai/claude-code',
    tried: '2026-11-28',
    // It refuses to skip permissions as root.
    allow: ['--allowedTools', 'Bash'],
    offline: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  note: 'setup.note.claude_code',
  texts: {
    en: {
      'setup.note.claude_code': 'Keep comments out of this file: with one, Claude Code ignores all of it.',
    },
    id: {
      'setup.note.claude_code':
        'Jangan tulis komentar di file ini. Satu komentar saja membuat Claude Code mengabaikan semuanya.',
    },
  },
  script: {
    commands: ['claude'],
    folders: ['~/.claude'],
    places: [{ variable: 'CLAUDE_CONFIG_DIR', folder: '~/.claude' }],
    trial: (prompt) => ['-p', prompt],
  },
  steps: ({ baseUrl, key, model, smallModel, tiers }) => [
    {
      kind: 'file',
      place: { path: '~/.claude/settings.json' },
      format: 'json',
      settings: {
        env: {
          ANTHROPIC_BASE_URL: baseUrl,
          ANTHROPIC_AUTH_TOKEN: key,
          ANTHROPIC_API_KEY: '',
          ANTHROPIC_MODEL: model.name,
          ANTHROPIC_DEFAULT_OPUS_MODEL: tiers.opus ?? model.name,
          ANTHROPIC_DEFAULT_SONNET_MODEL: tiers.sonnet ?? model.name,
          ANTHROPIC_DEFAULT_FABLE_MODEL: tiers.fable ?? model.name,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: smallModel.name,
          // Its picker then lists the whole catalog.
          CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
          // Claude Code assumes a million tokens of models that it does not know.
          ...(model.maxInputTokens !== undefined && {
            CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(model.maxInputTokens),
          }),
          // The block that it leaves out changes with every request, and would defeat the caches of prompts.
          CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
        },
      },
    },
    { kind: 'command', commands: [['claude']] },
  ],
};
