import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findBinaries } from '#core/platform/database/binaries.ts';
import { initializeCluster } from '#core/platform/database/cluster.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-cluster-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A program in place of initdb. Its second argument is the folder of the cluster. */
async function programOf(script: string): Promise<string> {
  const path = join(folder, 'initdb');
  await writeFile(path, `#!/bin/sh\ncd "$2" || exit 9\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const start = async (script: string, stall: number, stopping?: AbortSignal) =>
  initializeCluster(
    await programOf(script),
    { folder: join(folder, 'postgres'), password: 'the-password' },
    undefined,
    stopping,
    { checkIntervalMs: 20, stallTimeoutMs: stall },
  );

const steady = 'for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo more >> grown; sleep 0.2; done';

it('a disk that is slow, but writes, has all the time that it needs', async () => {
  await start(steady, 2_000);
  expect(await readdir(folder)).toEqual(['initdb', 'postgres']);
});

it('a program that writes nothing is given up, with the reason and what to do', async () => {
  await expect(start('exec sleep 600', 300)).rejects.toThrow(
    /could not be initialized in .*\.new: it has written nothing for 0\.3 s\. Check that the disk has space.*DATABASE_URL/,
  );
});

it('a start that is stopped ends once its program has, which would write to the folder of the next one', async () => {
  const stopping = new AbortController();
  const slow = `trap 'sleep 0.5; echo ended > ../ended; exit 1' TERM; echo begun > ../begun; while :; do sleep 0.05; done`;
  const starting = start(slow, 60_000, stopping.signal);
  starting.catch(() => undefined);
  await expect.poll(() => readdir(folder)).toContain('begun');
  stopping.abort(new Error('stopped'));
  await expect(starting).rejects.toThrow('stopped');
  expect(await readdir(folder)).toContain('ended');
});

it.each([
  ['its last line', 'echo "creating"; echo "initdb: no space left" >&2; exit 1', 'initdb: no space left'],
  [
    'what failed, not that it tidies up',
    `cat >&2 <<'END'
2026-11-29 11:30:46.441 UTC [20154] FATAL:  could not write to file "pg_wal/xlogtemp.20154": No space left on device
child process exited with exit code 1
initdb: removing contents of data directory "/data/postgres.new"
END
exit 1`,
    'could not write to file "pg_wal/xlogtemp.20154": No space left on device',
  ],
  ['its own error', 'echo "initdb: error: could not create directory" >&2; exit 1', 'could not create directory'],
  ['its code, where it printed nothing', 'exit 3', 'it exited with code 3 and printed nothing'],
  ['the signal that ended it', 'kill -9 $$', 'it was killed by SIGKILL'],
])('a program that fails is reported with %s', async (_, script, reason) => {
  await expect(start(script, 60_000)).rejects.toThrow(`.new: ${reason}. Check`);
});

const nameless = { name: '54321', uid: 54_321, gid: 54_321 };
const refusal = { exitCode: 78, message: expect.stringMatching(/ID 54321: .*an entry for that user in \/etc\/passwd/) };

it('a user without a name, whom initdb refuses, is told so, and no further start is tried', async () => {
  const script = 'echo "initdb: could not look up effective user ID 54321: user does not exist" >&2; exit 1';
  await expect(start(script, 60_000)).rejects.toMatchObject(refusal);
});

it.runIf(process.getuid?.() === 0)('PostgreSQL itself refuses such a user in these words', async () => {
  await chmod(folder, 0o755);
  const { initdb } = await findBinaries(nameless, join(folder, 'binaries'));
  const cluster = { folder: join(folder, 'postgres'), password: 'the-password' };
  await expect(initializeCluster(initdb, cluster, nameless)).rejects.toMatchObject(refusal);
});

it('the password is in a file of the data folder, for this user only, while it is needed', async () => {
  await start(`cp "$(echo "$4" | cut -d= -f2)" seen; ls -l "$(echo "$4" | cut -d= -f2)" > listed`, 60_000);
  expect(await readFile(join(folder, 'postgres', 'seen'), 'utf8')).toBe('the-password');
  expect(await readFile(join(folder, 'postgres', 'listed'), 'utf8')).toMatch(/^-rw-------/);
  expect(await readdir(folder)).toEqual(['initdb', 'postgres']);
});

it('what a killed start has left is removed by the next one', async () => {
  await writeFile(join(folder, 'postgres.password'), 'an old one');
  await start('exit 0', 60_000);
  expect(await readdir(folder)).toEqual(['initdb', 'postgres']);
});
