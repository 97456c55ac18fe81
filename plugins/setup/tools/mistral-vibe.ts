import type { SetupTool } from '../tool.ts';

/** Mistral Vibe merges these lists with its built-in ones, by the names of providers and the aliases of models. */
export const mistralVibe: SetupTool = {
  id: 'mistral-vibe',
  name: 'Mistral Vibe',
  group: 'agents',
  formats: ['chat'],
  seen: '3.0.2',
  pypi: { package: 'mistral-vibe', tried: '2026-11-29', allow: ['--auto-approve'] },
  script: {
    commands: ['vibe'],
    folders: ['~/.vibe'],
    places: [{ variable: 'VIBE_HOME', folder: '~/.vibe' }],
    trial: (prompt) => ['--prompt', prompt],
  },
  steps: ({ apiUrl, providerId, keyVariable, model, smallModel }) => [
    {
      kind: 'file',
      place: { path: '~/.vibe/config.toml' },
      format: 'toml',
      // Providers have a name, models a name and a provider.
      identity: ['name', 'provider'],
      settings: {
        active_model: `${providerId}/${model.name}`,
        providers: [{ name: providerId, api_base: apiUrl, api_key_env_var: keyVariable, api_style: 'openai' }],
        models: [...new Set([model, smallModel])].map(({ name, canSeeImages }) => ({
          name,
          provider: providerId,
          alias: `${providerId}/${name}`,
          ...(canSeeImages && { supports_images: true }),
        })),
      },
    },
    { kind: 'environment', key: keyVariable },
    { kind: 'command', commands: [['vibe']] },
  ],
};
