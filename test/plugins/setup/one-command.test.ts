import { describe, expect, it } from 'vitest';
import { Translator } from '#core/web/texts/translator.ts';
import { describeOneCommand } from '../../../plugins/setup/one-command.ts';
import type { System } from '../../../plugins/setup/reader.ts';
import en from '../../../plugins/setup/texts/en.json' with { type: 'json' };
import id from '../../../plugins/setup/texts/id.json' with { type: 'json' };

const t = new Translator([{ en, id }]).in('en');
const script = { sha256: 'ab12', tools: ['Claude Code', 'Codex'], slug: 'daypass' };

function shown(system: System, chosenModel?: string) {
  const one = describeOneCommand(script, { t, system, baseUrl: 'https://ai.example', chosenModel });
  const codeOf = ({ pieces }: typeof one.command) => pieces.map(({ text }) => text).join('');
  return { ...one, command: codeOf(one.command), longWay: codeOf(one.longWay).split('\n') };
}

describe('entry of all tools', () => {
  it.each([
    ['linux', 'curl -fsSL https://ai.example/setup.sh | sh', 'sha256sum setup.sh', 'setup.sh'],
    ['macos', 'curl -fsSL https://ai.example/setup.sh | sh', 'shasum -a 256 setup.sh', 'setup.sh'],
    ['windows', 'irm https://ai.example/setup.ps1 | iex', '(Get-FileHash setup.ps1).Hash.ToLower()', 'setup.ps1'],
  ] as const)('has the command and the longer way of %s', (system, command, checksum, file) => {
    const one = shown(system);
    expect([one.command, one.longWay[1], one.file, one.sha256]).toEqual([command, checksum, file, 'ab12']);
    expect(one.longWay).toHaveLength(4);
  });

  it('the entry of all tools hands a chosen model over, and leaves the choice to the script otherwise', () => {
    expect(shown('linux', 'dp/gpt-6-sol').command).toMatch(/\| sh -s -- --model dp\/gpt-6-sol$/);
    expect(shown('linux').command).not.toContain('--model');
  });

  it('the entry of all tools hands a chosen model to each way of running it that shows or writes settings', () => {
    const { options, longWay } = shown('linux', 'dp/gpt-6-sol');
    expect(options.map(({ code }) => code.endsWith('--model dp/gpt-6-sol'))).toEqual([true, true, false, false]);
    expect(longWay[3]).toBe('sh setup.sh --model dp/gpt-6-sol');
    expect(shown('windows', 'dp/gpt-6-sol').longWay[3]).toMatch(/ -File setup\.ps1 -Model dp\/gpt-6-sol$/);
  });

  it.each([
    ['linux', ['--dry-run', '--tools claude-code,codex', '--verify', '--undo']],
    ['windows', ['-DryRun', "-Tools 'claude-code,codex'", '-Verify', '-Undo']],
  ] as const)('has a line for each way of running it on %s', (system, ends) => {
    const lines = shown(system).options.map(({ code }) => code);
    expect(lines).toEqual(ends.map((end) => expect.stringMatching(new RegExp(`${end}$`))));
  });

  it('the entry of all tools says where copies are kept on this system', () => {
    expect(JSON.stringify(shown('linux').facts)).toContain('~/.config/daypass/setup/backups');
    expect(shown('windows').facts[2]?.value).toContain('%LOCALAPPDATA%\\daypass\\setup\\backups');
  });
});
