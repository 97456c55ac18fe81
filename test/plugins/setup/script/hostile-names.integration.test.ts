import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderShell } from '../../../../plugins/setup/script/render-scripts.ts';
import { type ScriptData, createScriptData } from '../../../../plugins/setup/script/script-data.ts';
import { modelOf } from '../../format/catalog/catalog-fixture.ts';
import { registry, setupHost } from '../fixture.ts';
import { nasty } from '../nasty.ts';
import { describeInShells, hasCommand, runShell } from './shells.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-names-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const rendered = (...host: Parameters<typeof setupHost>) =>
  renderShell(createScriptData(setupHost(...host), registry) as ScriptData);

/** What could be written into gateway.yaml to run something on the machines of customers. */
const commands = [
  '$(: >canary)',
  '`: >canary`',
  `'; : >canary; '`,
  '\nDATA\n: >canary\n',
  '"; : >canary; "',
  "'\n: >canary #",
];
const hostile = fc
  .tuple(nasty, fc.constantFrom(...commands), nasty)
  .map((parts) => parts.join('').replaceAll('\0', ''));

describeInShells('setup.sh of a gateway with hostile names', ({ name, command }) => {
  it('lists its tools and runs nothing that a name says', async () => {
    const home = await mkdtemp(join(folder, 'home-'));
    const script = join(folder, `${name.replaceAll(' ', '')}.sh`);
    for (const text of fc.sample(hostile, { numRuns: 4, seed: 7 })) {
      const models = [modelOf('large'), modelOf(`x${text}`), modelOf(text)];
      const service = { name: `Name ${text}`, baseUrl: `https://ai.example/${text}` };
      await writeFile(script, rendered(models, service, { model: `x${text}`, formats: { chat: { model: text } } }));
      for (const option of ['--list', '--help']) {
        const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: folder };
        const { status, stderr, stdout } = await runShell(command, [script, option], { env, cwd: home });
        expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
        expect(stdout).toContain(option === '--list' ? 'claude-code    Claude Code' : '--undo');
      }
    }
    expect(await readdir(home)).toEqual([]);
  });
});

describe('setup.sh as it is sent', () => {
  it.skipIf(!hasCommand('shellcheck'))('has no warning of shellcheck', async () => {
    const limits = { maxInputTokens: 200_000, maxOutputTokens: 32_000 };
    const script = join(folder, 'whole.sh');
    await writeFile(
      script,
      rendered([modelOf('large', ['chat'], limits), modelOf('large-mini'), modelOf('c', ['messages'])]),
    );
    const args = ['--shell=sh', '--severity=warning', script];
    expect(await runShell(['shellcheck'], args, { env: { PATH: process.env['PATH'] } })).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });
});
