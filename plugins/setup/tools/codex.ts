import type { SetupTool } from '../tool.ts';

/** A profile is a separate file, so that the user's config.toml stays unchanged. */
export const codex: SetupTool = {
  id: 'codex',
  name: 'Codex',
  group: 'agents',
  order: 2,
  formats: ['responses'],
  seen: '0.171.0',
  npm: {
    package: '@openai/codex',
    tried: '2026-11-28',
    // Its sandbox needs user namespaces, which containers lack.
    allow: ['--dangerously-bypass-approvals-and-sandbox'],
  },
  script: {
    commands: ['codex'],
    folders: ['~/.codex'],
    places: [{ variable: 'CODEX_HOME', folder: '~/.codex' }],
    trial: (prompt, { providerId }) => ['exec', '--profile', providerId, '--skip-git-repo-check', prompt],
    note: ({ providerId }) => `codex --profile ${providerId} uses this gateway; plain codex stays as it was.`,
  },
  steps: ({ apiUrl, providerId, providerName, keyVariable, model, hasSockets }) => [
    {
      kind: 'file',
      place: {
        path: `~/.codex/${providerId}.config.toml`,
      },
      format: 'toml',
      isOwn: true,
      settings: {
        model: model.name,
        model_provider: providerId,
        ...(model.maxInputTokens !== undefined && { model_context_window: model.maxInputTokens }),
        model_providers: {
          [providerId]: {
            name: providerName,
            base_url: apiUrl,
            wire_api: 'responses',
            env_key: keyVariable,
            // If a proxy refuses upgrades, Codex retries for seconds or minutes before it falls back to POST. No model_catalog_url:
            // docs/decisions/0057-codex-gets-no-model-catalog.md.
            ...(hasSockets && { supports_websockets: true }),
          },
        },
      },
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['codex', '--profile', providerId]] },
  ],
};
