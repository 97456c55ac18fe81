import { tools } from '../../plugins/setup/tools.ts';

/** A command-line tool that is installed from npm and takes one turn without a terminal. */
export interface Cli {
  /** Id in the table of tools. */
  readonly id: string;
  readonly package: string;
  /** The version that was seen to work, from the table. */
  readonly version: string;
  readonly command: string;
  /** The rest of the command line. */
  parameters(prompt: string, settings: CliSettings): readonly string[];
  /** Variables that keep it from asking hosts beside the gateway, which are not reachable in every test. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Paths in the home of its transcripts and logs, which have the gateway's address and are not the script's to change. */
  readonly keeps?: readonly RegExp[];
}

export interface CliSettings {
  /** Slug of the service, which names profiles. */
  readonly slug: string;
  /** Public name of the model that the tools are set up with. */
  readonly model: string;
}

const entries: readonly Omit<Cli, 'version'>[] = [
  {
    id: 'claude-code',
    package: '@anthropic-ai/claude-code',
    command: 'claude',
    // It refuses to skip permissions as root.
    parameters: (prompt) => ['-p', prompt, '--allowedTools', 'Bash'],
    environment: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  {
    id: 'codex',
    package: '@openai/codex',
    command: 'codex',
    // Its sandbox needs user namespaces, which containers lack.
    parameters: (prompt, { slug }) => [
      'exec',
      '--profile',
      slug,
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      prompt,
    ],
  },
  {
    id: 'opencode',
    package: 'opencode-ai',
    command: 'opencode',
    parameters: (prompt) => ['run', prompt],
    environment: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' },
  },
  {
    id: 'kilo',
    package: '@kilocode/cli',
    command: 'kilo',
    parameters: (prompt) => ['run', '--auto', prompt],
    environment: { KILO_DISABLE_MODELS_FETCH: '1', KILO_DISABLE_AUTOUPDATE: '1', KILO_TELEMETRY_LEVEL: 'off' },
  },
  {
    id: 'qwen-code',
    package: '@qwen-code/qwen-code',
    command: 'qwen',
    parameters: (prompt) => ['-p', prompt, '--yolo'],
  },
  {
    id: 'cline',
    package: 'cline',
    command: 'cline',
    parameters: (prompt) => [prompt],
  },
  {
    id: 'pi',
    package: '@earendil-works/pi-coding-agent',
    command: 'pi',
    parameters: (prompt) => ['-p', prompt],
    environment: { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1' },
  },
  {
    id: 'droid',
    package: 'droid',
    command: 'droid',
    parameters: (prompt, { model }) => ['exec', '--auto', 'high', '-m', model, prompt],
    environment: { FACTORY_AIRGAP_ENABLED: 'true', FACTORY_DROID_AUTO_UPDATE_ENABLED: 'false' },
    keeps: [/^\.factory\/logs\//],
  },
  {
    id: 'copilot-cli',
    package: '@github/copilot',
    command: 'copilot',
    parameters: (prompt) => ['-p', prompt, '--allow-all-tools'],
    environment: { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
  },
  {
    id: 'continue',
    package: '@continuedev/cli',
    command: 'cn',
    parameters: (prompt) => ['-p', prompt, '--auto'],
  },
  {
    id: 'gemini-cli',
    package: '@google/gemini-cli',
    command: 'gemini',
    parameters: (prompt) => ['-p', prompt, '--yolo', '--skip-trust'],
  },
];

/** @throws Error for a tool that the table does not say to have been seen */
export const clis: readonly Cli[] = entries.map((entry) => {
  const version = tools.find(({ id }) => id === entry.id)?.seen;
  if (version === undefined) throw new Error(`the table has no version of ${entry.id}`);
  return { ...entry, version };
});
