import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { renderShell } from '../../../../plugins/setup/script/render-scripts.ts';
import { runs as casesOf } from '../../../support/runs.ts';
import { pathOf, testKey } from './parts-fixture.ts';
import { sampleData, sampleTools } from './sandbox.ts';
import { describeInShells, runShell } from './shells.ts';

/*
 * `curl … | sh` when the connection breaks: the shell gets the start of the script.
 */

const script = renderShell(sampleData('http://127.0.0.1:1', sampleTools));
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-cut-'));
  await Promise.all(['home', 'bin'].map((name) => mkdir(join(folder, name))));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Where the text before the cut ends with a word that is a command: at the end, in the first lines, and in names of functions. */
function cuts(count: number): number[] {
  const ends = [...script.matchAll(/main/g)].map(({ index }) => index + 4);
  const starts = ['set -u', '[ -z "${ZSH', 'service='].map((text) => script.indexOf(`\n${text}`) + 4);
  const names = [...script.matchAll(/\n([a-z]+)[a-z_]*\(\) \{/g)].map(
    ({ index, 1: word = '' }) => index + 1 + word.length,
  );
  const others = Array.from({ length: count }, (_, index) => Math.floor((script.length * index) / count));
  const step = Math.ceil(names.length / count);
  return [...starts, ...names.filter((_, index) => index % step === 0), ...others, ...ends, script.length - 2];
}

describeInShells('a download that breaks off', ({ command: [name, ...words] }) => {
  it('a setup script that was cut off anywhere does nothing', async () => {
    const [home, bin] = [join(folder, 'home'), join(folder, 'bin')];
    const env = { PATH: bin, HOME: home, TMPDIR: folder, DAYPASS_API_KEY: testKey };
    for (const cut of cuts(casesOf(10).numRuns)) {
      // Shells parse a file as they parse a pipe, which some of them read byte by byte.
      const [file, text] = [join(folder, 'setup.sh'), script.slice(0, cut)];
      await writeFile(file, text);
      const { stdout, stderr } = await runShell([pathOf(name)], [...words, file], { env });
      expect({ stdout, started: /not found/.test(stderr) }, `after ${text.slice(-40)}: ${stderr}`).toStrictEqual({
        stdout: '',
        started: false,
      });
    }
    expect(await readdir(home)).toEqual([]);
  });
});

it('the script is in ASCII, for shells that read nothing else in the C locale', () => {
  expect(/[^\n\t\x20-\x7e]/.exec(script)).toBeNull();
});
