import { codePieces } from '#core/web/pages/code-pieces.ts';
import {
  formatSetupCommand,
  formatSetupOptions,
  type SetupOptions,
  type SetupShell,
  formatSetupUrl,
} from '#core/web/pages/setup-command.ts';
import type { CodeBox } from './describe-step.ts';
import { type Reader, type System, getTerminalName } from './reader.ts';

interface ScriptFacts {
  readonly sha256: string; // hexadecimal, of the served bytes
  readonly tools: readonly string[];
  readonly slug: string; // the service's slug; names the folder with the script's state
}

const exampleTools = 'claude-code,codex';

function selectShell(system: System): SetupShell {
  return system === 'windows' ? 'powershell' : 'posix';
}

export function describeCommandBox(options: SetupOptions, reader: Reader): CodeBox {
  const { system, baseUrl } = reader;
  return {
    id: 'command',
    label: getTerminalName(system),
    pieces: codePieces(formatSetupCommand(selectShell(system), baseUrl, { ...options, ...createModelOption(reader) })),
  };
}

function createModelOption({ chosenModel }: Reader): SetupOptions {
  return chosenModel === undefined ? {} : { model: chosenModel };
}

export function describeOneCommand({ sha256, tools, slug }: ScriptFacts, reader: Reader) {
  const { t, system } = reader;
  const file = system === 'windows' ? 'setup.ps1' : 'setup.sh';
  return {
    command: describeCommandBox({}, reader),
    facts: [
      { label: t('setup.all.tools'), value: tools.join(', ') },
      { label: t('setup.all.writes'), value: t('setup.all.writes_more') },
      { label: t('setup.all.backups'), value: t('setup.all.backups_more', { folder: backupFolder(system, slug) }) },
      { label: t('setup.key'), value: t('setup.all.key_kept') },
    ],
    options: describeOptions(reader),
    longWay: { id: 'long-way', label: getTerminalName(system), pieces: codePieces(formatDownloadCommands(reader)) },
    file,
    sha256,
  };
}

function backupFolder(system: System, slug: string): string {
  return system === 'windows' ? `%LOCALAPPDATA%\\${slug}\\setup\\backups` : `~/.config/${slug}/setup/backups`;
}

function describeOptions(reader: Reader) {
  const { t, system, baseUrl } = reader;
  const options: readonly (readonly [id: string, options: SetupOptions])[] = [
    ['dry-run', { 'dry-run': true, ...createModelOption(reader) }],
    ['tools', { tools: exampleTools, ...createModelOption(reader) }],
    ['verify', { verify: true }],
    ['undo', { undo: true }],
  ];
  return options.map(([id, named]) => ({
    id: `option-${id}`,
    label: t(`setup.all.option.${id}`),
    code: formatSetupCommand(selectShell(system), baseUrl, named),
  }));
}

function formatDownloadCommands(reader: Reader): string {
  const { system, baseUrl } = reader;
  const shell = selectShell(system);
  const url = formatSetupUrl(shell, baseUrl);
  const checksumCommand = system === 'macos' ? 'shasum -a 256' : 'sha256sum';
  const steps =
    system === 'windows'
      ? [
          `irm ${url} -OutFile setup.ps1`,
          '(Get-FileHash setup.ps1).Hash.ToLower()',
          'notepad setup.ps1',
          'powershell -ExecutionPolicy Bypass -File setup.ps1',
        ]
      : [`curl -fsSL ${url} -o setup.sh`, `${checksumCommand} setup.sh`, 'less setup.sh', 'sh setup.sh'];
  return `${steps.join('\n')} ${formatSetupOptions(shell, createModelOption(reader))}`.trimEnd();
}
