/**
 * Compares pinned runtimes with the fixed releases listed in runtimes.ts, and fails if a package with the fixes exists. The registry is
 * asked only about packages that are behind; if it does not respond in time, the output says so and the build continues.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOldPins, readPins } from './runtimes.ts';

const root = join(import.meta.dirname, '..');

const registryTimeoutSeconds = 15;

let isRegistryThere = true;
const pins = readPins((file) => readFileSync(join(root, file), 'utf8'));
const old = await findOldPins(pins, fetchVersions);
for (const { text, isSevere } of old) {
  if (isSevere) console.error(text);
  else console.log(text);
}
if (old.some(({ isSevere }) => isSevere)) process.exit(1);
console.log(`runtimes: ${pins.length} pins, ${old.length} of them wait for a fixed package`);

/** After the registry has failed once, it is not asked again. */
async function fetchVersions(name: string): Promise<readonly string[] | undefined> {
  if (!isRegistryThere) return undefined;
  const output = await askRegistry(name);
  isRegistryThere = output !== undefined;
  return output === undefined ? undefined : readVersions(output);
}

function askRegistry(name: string): Promise<string | undefined> {
  const limits = ['--fetch-retries=0', `--fetch-timeout=${registryTimeoutSeconds * 1000}`];
  return new Promise((resolve) => {
    execFile(
      'npm',
      ['view', name, 'versions', '--json', ...limits],
      { cwd: root, timeout: registryTimeoutSeconds * 1000, killSignal: 'SIGKILL' },
      (error, stdout) => resolve(error === null ? stdout : undefined),
    );
  });
}

/** npm prints a single version without a list around it. */
function readVersions(output: string): readonly string[] | undefined {
  try {
    return [JSON.parse(output) as string | string[]].flat();
  } catch {
    return undefined;
  }
}
