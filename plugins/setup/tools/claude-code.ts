import type { FilePlace, SetupTool } from '../tool.ts';

/** Settings of an administrator, which override those of the user. Source: Claude Code docs, "Managed settings". */
const managedSettings: readonly FilePlace[] = ['managed-settings.json', 'managed-settings.d/'].map((name) => ({
  path: `/etc/claude-code/${name}`,
  macos: `/Library/Application Support/ClaudeCode/${name}`,
  windows: `C:\\Program Files\\ClaudeCode\\${name.replace('/', '\\')}`,
}));

/** `env` in the user's settings overrides the shell; an empty ANTHROPIC_API_KEY keeps a stale key from being sent with the token. */
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
  note: {
    en: 'Keep comments out of this file: with one, Claude Code ignores all of it.',
    id: 'Jangan tulis komentar di file ini. Satu komentar saja membuat Claude Code mengabaikan semuanya.',
  },
  texts: {
    en: {
      'setup.note.claude_code_mode':
        'With "defaultMode": "default", Claude Code asks before it runs a command. Its auto mode needs a check that the vendor of this model does not have: it would stop at the first risky action and say that the check is not getting through. Leave the line out if you have chosen a mode yourself.',
    },
    id: {
      'setup.note.claude_code_mode':
        'Dengan "defaultMode": "default", Claude Code bertanya sebelum menjalankan perintah. Mode otomatisnya membutuhkan pemeriksaan yang tidak dimiliki vendor model ini: mode itu berhenti pada tindakan berisiko pertama dan mengatakan bahwa pemeriksaan tidak sampai. Hapus baris itu jika Anda sudah memilih mode sendiri.',
    },
  },
  script: {
    commands: ['claude'],
    folders: ['~/.claude'],
    places: [{ variable: 'CLAUDE_CONFIG_DIR', folder: '~/.claude' }],
    // The list of models from the last start, with the address of its gateway.
    caches: [{ path: '~/.claude/cache/gateway-models.json' }],
    trial: (prompt) => ['-p', prompt],
  },
  steps: ({ baseUrl, key, model, smallModel, tiers }) => [
    {
      kind: 'file',
      place: { path: '~/.claude/settings.json' },
      format: 'json',
      dialect: 'plain',
      initial: ['permissions.defaultMode'],
      elsewhere: managedSettings,
      ...(!model.hasSafeguards && { note: 'setup.note.claude_code_mode' }),
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
          // Makes the model picker list the whole catalog.
          CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
          // Claude Code assumes a context of a million tokens for unknown models.
          ...(model.maxInputTokens !== undefined && {
            CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(model.maxInputTokens),
          }),
          // Omits a block that changes with every request and would defeat prompt caches.
          CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
        },
        // Auto mode relies on the vendor's reviews of tool calls; without them, it stops at the first risky call.
        ...(!model.hasSafeguards && { permissions: { defaultMode: 'default' } }),
      },
    },
    { kind: 'command', commands: [['claude']] },
  ],
};
