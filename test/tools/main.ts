/**
 * `npm run test:tools`: the real command-line tools, installed from npm, set up by the script on a clean home, each with one
 * task over each upstream format. Prints a matrix, and exits with 1 when anything failed.
 *
 *     npm run test:tools -- --tools codex,pi        some tools
 *     npm run test:tools -- --formats chat,messages some upstream formats
 *     npm run test:tools -- --cache FOLDER          where the tools are installed and kept
 *     npm run test:tools -- --errors                instead: what each tool shows for each error
 *     npm run test:tools -- --keep                  leaves homes and outputs, and says where
 */
import { appendFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type TextFormat, textFormats } from '../support/formats.ts';
import { execute, startPostgres, withDatabase } from '../support/global-postgres.ts';
import type { Report } from './check.ts';
import { tryCleanHome } from './clean-home.ts';
import { clis } from './clis.ts';
import { showErrors } from './errors.ts';
import { openToolsFixture } from './fixture.ts';
import { type InstalledCli, installCli } from './install.ts';
import { writeMatrix } from './matrix.ts';
import type { Outcome } from './take-turn.ts';
import { tryFormats, tryNewKey, tryUndo } from './used-home.ts';
import { openUserHome, type UserHome } from './user-home.ts';

const cacheFolder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'daypass-tools');
const { values } = parseArgs({
  options: {
    tools: { type: 'string' },
    formats: { type: 'string' },
    cache: { type: 'string', default: cacheFolder },
    errors: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
const formats = choose(textFormats, values.formats, '--formats');
const chosen = choose(
  clis.map(({ id }) => id),
  values.tools,
  '--tools',
);
let failures = 0;
const report: Report = (name, ...faults) => {
  const fault = faults.find((one) => one !== undefined);
  if (fault !== undefined) failures++;
  console.log(fault === undefined ? `  ok     ${name}` : `  FAILED ${name}: ${fault.replaceAll('\n', '\n         ')}`);
};

const installed = await installAll();
if (installed.length === 0) {
  console.error('No tool is installed. Nothing was tried.');
  process.exit(1);
}
await using postgres = await startPostgres();
await execute(postgres.url, `CREATE DATABASE daypass_tools TEMPLATE ${postgres.templateDatabase}`);
await using fixture = await openToolsFixture(withDatabase(postgres.url, 'daypass_tools'));

if (values.errors) await inHome((home) => showErrors(fixture, home, installed, report));
else await tryTools();
const skipped = chosen.length - installed.length;
console.log(`\n${failures} failed, ${skipped} of ${chosen.length} tools skipped`);
process.exitCode = failures === 0 ? 0 : 1;

async function tryTools(): Promise<void> {
  console.log('\nOn a clean home');
  await inHome((home) => tryCleanHome(fixture, home, installed, report));

  console.log('\nIn use');
  await inHome(async (home) => {
    const outcomes: Outcome[] = [];
    const reportTask = (outcome: Outcome): void => {
      const { cli, format, seconds, fault, output } = outcome;
      outcomes.push(outcome);
      report(`${cli.id} over ${format} (${seconds.toFixed(1)} s)`, fault);
      appendFileSync(join(home.scratch, `${cli.id}-${format}.txt`), output);
    };
    const stay = { fixture, home, clis: installed, report, reportTask };
    const oldKey = fixture.key;
    await tryFormats(stay, formats);
    console.log('\nWith a new key');
    await tryNewKey(stay, formats[0] as TextFormat);
    await tryUndo(stay, [oldKey, fixture.key]);
    console.log(`\nSeconds by upstream format\n${writeMatrix(installed, formats, outcomes)}`);
  });
}

/** @throws Error for an unknown name */
function choose<T extends string>(all: readonly T[], names: string | undefined, option: string): readonly T[] {
  const wanted = names?.split(',');
  const unknown = wanted?.find((name) => !all.some((one) => one === name));
  if (unknown !== undefined) throw new Error(`${option}: unknown name "${unknown}"; use one of: ${all.join(', ')}`);
  return wanted === undefined ? all : all.filter((name) => wanted.includes(name));
}

async function installAll(): Promise<InstalledCli[]> {
  const found: InstalledCli[] = [];
  for (const cli of clis.filter(({ id }) => chosen.includes(id))) {
    try {
      found.push(await installCli(cli, values.cache));
    } catch (error) {
      console.log(`skipped ${cli.id}: ${cli.package}@${cli.version}: ${(error as Error).message}`);
    }
  }
  return found;
}

async function inHome(run: (home: UserHome) => Promise<void>): Promise<void> {
  const home = await openUserHome(fixture.url, installed);
  try {
    await run(home);
  } finally {
    if (values.keep) console.log(`kept ${home.scratch}`);
    else await home[Symbol.asyncDispose]();
  }
}
