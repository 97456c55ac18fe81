import { join } from 'node:path';
import type { TextFormat } from '../support/formats.ts';
import { faultOfDifferences, faultOfEnd, faultOfSecrets, faultOfVerdicts, type Report } from './check.ts';
import { trialOptions } from './clean-home.ts';
import { modelOver, type ToolsFixture } from './fixture.ts';
import type { InstalledCli } from './install.ts';
import { findLoss, readOtherSettings } from './other-settings.ts';
import { type Outcome, takeTurn } from './take-turn.ts';
import { filesWith, type UserHome } from './user-home.ts';

/** Tools that are used in one home. */
export interface Stay {
  readonly fixture: ToolsFixture;
  readonly home: UserHome;
  readonly clis: readonly InstalledCli[];
  readonly report: Report;
  /** Takes what became of each task. */
  readonly reportTask: (outcome: Outcome) => void;
}

/** Gives every tool a task over every upstream format, each time set up again with the model over it. */
export async function tryFormats(stay: Stay, formats: readonly TextFormat[]): Promise<void> {
  const { fixture, home, clis, report, reportTask } = stay;
  for (const format of formats) {
    const environment = { DAYPASS_API_KEY: fixture.key };
    const ended = await home.script(['--yes', '--model', modelOver(format)], { environment });
    report(`the tools are set up with ${modelOver(format)}`, faultOfEnd(ended));
    for (const cli of workers(clis)) reportTask(await takeTurn(fixture, home, cli, format));
  }
  await verify(stay, '--verify finds them working after use');
}

/** Replaces the key, which the tools learn from another run of the script. */
export async function tryNewKey(stay: Stay, format: TextFormat): Promise<void> {
  const { fixture, home, clis, report, reportTask } = stay;
  await fixture.rotate();
  const refused = await home.script(['--verify']);
  report('--verify notices that the key was replaced', faultOfEnd(refused, 1), faultOfSecrets(refused, fixture.key));
  const ended = await home.script([
    '--yes',
    '--key-file',
    await home.keyFile(fixture.key),
    '--model',
    modelOver(format),
  ]);
  report('the tools get the new key', faultOfEnd(ended), faultOfSecrets(ended, fixture.key));
  for (const cli of workers(clis)) reportTask(await takeTurn(fixture, home, cli, format));
  await verify(stay, '--verify finds them working with the new key');
}

const workers = (clis: readonly InstalledCli[]) => clis.filter(({ takesNoTask }) => takesNoTask !== true);

/** Copies of files as they were before a run stay where --undo could not bring back every byte. */
function isBackup(file: string): boolean {
  return /^\.config\/[^/]+\/setup\/backups\//.test(file);
}

/** Takes the settings out of a home that the tools have written to, and looks for what is left and what is lost. */
export async function tryUndo({ fixture, home, clis, report }: Stay, keys: readonly string[]): Promise<void> {
  const others = await readOtherSettings(join(home.folder, '.config', fixture.slug, 'setup', 'files'));
  const undone = await home.script(['--undo', '--yes']);
  report('--undo takes the settings out of a home in use', faultOfEnd(undone));
  const losses = (await Promise.all(others.map(findLoss))).filter((loss) => loss !== undefined);
  const missing = others.length === 0 ? 'the script kept no record of a file' : undefined;
  report(`the tools' other settings stay in ${others.length} files`, missing, faultOfDifferences(losses));
  const kept = clis.flatMap(({ keeps = [] }) => keeps.map((pattern) => new RegExp(pattern)));
  const left = await filesWith(home.folder, [...keys, new URL(fixture.url).host]);
  const unexpected = left.filter((file) => !isBackup(file) && !kept.some((one) => one.test(file)));
  report('no other file has a key or the address', faultOfDifferences(unexpected));
  const [ofScript, ofTools] = [left.filter(isBackup), left.filter((file) => kept.some((one) => one.test(file)))];
  console.log(`         left: ${[`${ofScript.length} backups of the script`, ...ofTools].join(', ')}`);
}

async function verify({ home, clis, fixture, report }: Stay, name: string): Promise<void> {
  const ended = await home.script(['--verify'], trialOptions(clis));
  const ids = clis.map(({ id }) => id);
  report(name, faultOfEnd(ended), faultOfVerdicts(ended, ids, 'works'), faultOfSecrets(ended, fixture.key));
}
