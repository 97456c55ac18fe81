import type { SetupTool } from '../tool.ts';

/** The command line, VS Code and JetBrains share one store, which the tool's own command writes. */
export const cline: SetupTool = {
  id: 'cline',
  name: 'Cline',
  group: 'agents',
  formats: ['chat'],
  seen: '3.0.65',
  isScriptable: true,
  note: 'setup.note.cline',
  steps: ({ apiUrl, keyVariable, model }) => [
    { kind: 'environment', variables: {}, key: keyVariable },
    {
      kind: 'command',
      commands: [
        ['cline', 'auth', '-p', 'openai-compatible', '-k', { variable: keyVariable }, '-m', model.name, '-b', apiUrl],
      ],
    },
  ],
};
