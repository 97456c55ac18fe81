import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { faultOfDifferences, faultOfEnd, faultOfSecrets, faultOfVerdicts, type Report } from './check.ts';
import type { ToolsFixture } from './fixture.ts';
import type { InstalledCli } from './install.ts';
import { compareSnapshots, type Snapshot, takeSnapshot } from './snapshot.ts';
import { filesWith, type TerminalOptions, type UserHome } from './user-home.ts';

/** Sets tools up on a clean home, twice, and takes everything back; then again with tools that have run meanwhile. */
export async function tryCleanHome(
  fixture: ToolsFixture,
  home: UserHome,
  clis: readonly InstalledCli[],
  report: Report,
): Promise<void> {
  const ids = clis.map(({ id }) => id);
  const { key } = fixture;
  const clean = await takeSnapshot(home.folder);
  const setUp = ['--yes', '--key-file', await home.keyFile(key)];
  const changes = async (before: Snapshot) =>
    faultOfDifferences(compareSnapshots(before, await takeSnapshot(home.folder)));

  const listed = await home.script(['--list']);
  report('--list finds the tools', faultOfEnd(listed), faultOfVerdicts(listed, ids, 'found'), await changes(clean));
  const dry = await home.script(['--dry-run', ...setUp]);
  report('--dry-run changes nothing', faultOfEnd(dry), faultOfSecrets(dry, key), await changes(clean));

  const first = await home.script(setUp);
  const written = faultOfVerdicts(first, ids, 'written');
  report('the tools are set up', faultOfEnd(first), written, faultOfSecrets(first, key));
  report('only the user can read the key', await readableSecrets(home, key));
  const afterFirst = await takeSnapshot(home.folder);
  const second = await home.script(setUp);
  const unchanged = faultOfVerdicts(second, ids, 'unchanged');
  report('a second run changes nothing', faultOfEnd(second), unchanged, await changes(afterFirst));
  const undone = await home.script(['--undo', '--yes']);
  report('--undo leaves the home as it was, byte for byte', faultOfEnd(undone), await changes(clean));

  await home.script(setUp);
  const verified = await home.script(['--verify'], trialOptions(clis));
  const working = faultOfVerdicts(verified, ids, 'works');
  report('--verify finds them working', faultOfEnd(verified), working, faultOfSecrets(verified, key));
  report('each tool answers one prompt', faultOfVerdicts(verified, ids, 'it answered in'));
  const last = await home.script(['--undo', '--yes']);
  report('--undo takes the settings out of a home in which the tools ran', faultOfEnd(last));
}

/** The tools run one after another, and ask no hosts beside the gateway. */
export function trialOptions(clis: readonly InstalledCli[]): TerminalOptions {
  const environment = Object.assign({}, ...clis.map((cli) => cli.offline ?? {})) as Record<string, string>;
  return { environment, timeout: 15 * 60_000 };
}

/** Files with the key that others can read. */
async function readableSecrets(home: UserHome, key: string): Promise<string | undefined> {
  const files = await filesWith(home.folder, [key]);
  if (files.length === 0) return 'no file has the key';
  const modes = await Promise.all(files.map(async (file) => (await stat(join(home.folder, file))).mode & 0o777));
  const open = files.filter((_, index) => modes[index] !== 0o600);
  return open.length === 0 ? undefined : `others can read ${open.join(', ')}`;
}
