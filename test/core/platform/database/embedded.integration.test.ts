import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { access, chmod, mkdir, readFile, readdir, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Database } from '#core/platform/database/database.ts';
import { openDatabase } from '#core/platform/database/open.ts';
import { silentLog } from '../../../support/database.ts';
import { createMemoryFolder } from '../../../support/memory-folder.ts';

/** A folder with a migrated database that does not run. To make one takes as much as ten of these tests. */
let made: string;
let folder: string;
let dataFolder: string;
const children = new Set<ChildProcess>();
/** That of the command line. */
const compileCache = join(import.meta.dirname, '../../../../node_modules/.cache/daypass');

const run = promisify(execFile);

const createFolder = async () => {
  const created = await createMemoryFolder('daypass-embedded-');
  await chmod(created, 0o755);
  return created;
};

beforeAll(async () => {
  made = await createFolder();
  dataFolder = join(made, 'data');
  await (await open())[Symbol.asyncDispose]();
});
afterAll(() => rm(made, { recursive: true, force: true }));

beforeEach(async () => {
  folder = await createFolder();
  dataFolder = join(folder, 'data');
  // Node's own copy forgets the owner, which is not the user of this process where that one is root.
  await run('cp', ['-a', join(made, 'data'), dataFolder]);
});
afterEach(async () => {
  for (const child of children) await kill(child);
  await stopLeftover();
  await rm(folder, { recursive: true, force: true });
});

const open = (mode: 'serve' | 'command' = 'serve'): Promise<Database> =>
  openDatabase({ dataFolder, log: silentLog, mode, isShared: false });

/** Makes the data folder a disk of 1 MB that is full. @returns false where this process cannot mount one */
async function fillDisk(): Promise<boolean> {
  dataFolder = join(folder, 'full');
  await mkdir(dataFolder);
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'daypass-test', dataFolder]).catch(
    () => undefined,
  );
  if (mounted === undefined) return false;
  await writeFile(join(dataFolder, 'other'), Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);
  return true;
}

/** From here on, the test's data folder is one that does not exist yet. */
function useNewFolder(): void {
  dataFolder = join(folder, 'new');
}

/** The process of the server, from its own file; undefined when it does not run. */
async function serverPid(): Promise<number | undefined> {
  const { folder: place } = JSON.parse(await readFile(join(dataFolder, 'postgres.json'), 'utf8')) as { folder: string };
  const text = await readFile(join(place, 'postmaster.pid'), 'utf8').catch(() => '');
  return text === '' ? undefined : Number.parseInt(text, 10);
}

/** A test that failed must not leave a server behind: a command that started nothing would. */
async function stopLeftover(): Promise<void> {
  if ((await serverPid().catch(() => undefined)) !== undefined) await (await open())[Symbol.asyncDispose]();
}

/** Another gateway on the same folder, in a process of its own. */
async function startGateway(sharing: 'alone' | 'shared' = 'alone'): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'embedded-child.ts'), [dataFolder, 'serve', sharing], {
    execArgv: [],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  children.add(child);
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit')])) as [unknown];
  if (typeof message !== 'string') throw new Error(`the other gateway did not start: ${String(message)}`);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function stop(child: ChildProcess): Promise<void> {
  children.delete(child);
  child.disconnect();
  await once(child, 'exit');
}

/** A row that tells a folder that was kept from one that was made anew. */
async function leaveMark(database: Database): Promise<void> {
  await database.query('CREATE TABLE mark (note text)');
  await database.query('INSERT INTO mark VALUES (?)', ['kept']);
}

const readMark = (database: Database) => database.query<{ note: string }>('SELECT note FROM mark');

describe('the database that comes with the gateway', () => {
  it('is made at the first start and found again at the second', async () => {
    useNewFolder();
    const first = await open();
    expect(first.kind).toBe('embedded');
    await leaveMark(first);
    await first[Symbol.asyncDispose]();
    expect(await serverPid()).toBeUndefined();
    await using second = await open();
    expect(await readMark(second)).toEqual([{ note: 'kept' }]);
  });

  it('names the data folder when it cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    dataFolder = join(folder, 'file', 'data');
    await expect(open()).rejects.toThrow(
      `The data folder ${dataFolder} is not writable. Make it writable for this process's user, or set another data.folder.`,
    );
  });

  it('moves to another port if another program has taken its own', async () => {
    const first = await open();
    const { port } = new URL(first.url);
    await leaveMark(first);
    await first[Symbol.asyncDispose]();
    const stranger = createServer((socket) => socket.destroy()).listen(Number(port), '127.0.0.1');
    await once(stranger, 'listening');
    try {
      await using second = await open();
      expect(new URL(second.url).port).not.toBe(port);
      expect(await readMark(second)).toEqual([{ note: 'kept' }]);
    } finally {
      stranger.close();
    }
  });

  it('keeps running when its gateway is killed', async () => {
    const killed = await startGateway();
    const pid = await serverPid();
    await kill(killed);
    await using next = await open();
    await next.ping();
    expect(await serverPid()).toBe(pid);
  });

  it('starts again when it was killed together with its gateway', async () => {
    const first = await open();
    await leaveMark(first);
    await first[Symbol.asyncDispose]();
    const killed = await startGateway();
    const pid = await serverPid();
    process.kill(pid ?? 0, 'SIGKILL');
    await kill(killed);
    await using next = await open();
    expect(await readMark(next)).toEqual([{ note: 'kept' }]);
    expect(await serverPid()).not.toBe(pid);
  });

  it('is not mistaken for a stranger that got its number', async () => {
    await writeFile(join(dataFolder, 'postgres', 'postmaster.pid'), `${process.pid}\n`);
    await using second = await open();
    await second.ping();
  });

  it('is created again when its creation was interrupted', async () => {
    useNewFolder();
    await mkdir(join(dataFolder, 'postgres.new'), { recursive: true });
    await writeFile(join(dataFolder, 'postgres.new', 'PG_VERSION'), '18\n');
    await writeFile(join(dataFolder, 'postgres.json'), '{"port":');
    await using database = await open();
    await database.ping();
    expect(await readdir(dataFolder)).not.toContain('postgres.new');
  });

  it('moves with its folder', async () => {
    const first = await open();
    await leaveMark(first);
    await first[Symbol.asyncDispose]();
    await rename(dataFolder, join(folder, 'moved'));
    dataFolder = join(folder, 'moved');
    await using second = await open();
    expect(await readMark(second)).toEqual([{ note: 'kept' }]);
  });

  it('is waited for while it stops', async () => {
    const first = await open();
    const stopping = first[Symbol.asyncDispose]();
    await using second = await open();
    await stopping;
    await second.ping();
  });

  it('is started again by a command whose connection ends because another process stops it', async () => {
    await using first = await open('command');
    const blocker = new pg.Client({ connectionString: first.url });
    blocker.on('error', () => undefined);
    await blocker.connect();
    // The command waits for this lock to read which migrations are applied.
    await blocker.query('BEGIN; LOCK TABLE migration IN ACCESS EXCLUSIVE MODE');
    const opening = open('command');
    await expect.poll(() => first.query('SELECT FROM pg_locks WHERE NOT granted')).toHaveLength(1);
    process.kill((await serverPid()) as number, 'SIGINT');
    await using second = await opening;
    await second.ping();
  });

  it('does not wait for a process that has died while it was making it', async () => {
    useNewFolder();
    await mkdir(dataFolder);
    await writeFile(join(dataFolder, 'postgres.lock'), String(process.pid));
    await utimes(join(dataFolder, 'postgres.lock'), 1, 1);
    await using database = await open();
    await database.ping();
  });

  it('is made once by those who start at the same time', async () => {
    useNewFolder();
    const databases = await Promise.all([open('command'), open('command'), open('serve')]);
    expect(new Set(databases.map(({ url }) => url)).size).toBe(1);
    for (const database of databases) await database[Symbol.asyncDispose]();
    expect(await serverPid()).toBeUndefined();
    expect((await readdir(dataFolder)).toSorted()).toEqual(['postgres', 'postgres.json', 'postgres.log']);
  });
});

describe('the embedded database under a running gateway', () => {
  it('is started again on its port when it was killed', async () => {
    const warned = vi.fn<(message: string) => void>();
    const log = { ...silentLog, error: warned };
    await using database = await openDatabase({ dataFolder, log, mode: 'serve', isShared: false });
    await leaveMark(database);
    const pid = await serverPid();
    process.kill(pid ?? 0, 'SIGKILL');
    const patience = { timeout: 20_000, interval: 100 };
    // A connection of the dead server may answer once more.
    await vi.waitFor(async () => expect([pid, undefined]).not.toContain(await serverPid()), patience);
    await vi.waitFor(async () => expect(await readMark(database)).toEqual([{ note: 'kept' }]), patience);
    expect(warned).toHaveBeenCalledWith('PostgreSQL has stopped unexpectedly; restarting it');
  });

  it('counts as unavailable while its files are gone, although it responds', async () => {
    await using database = await open();
    const { folder: place } = JSON.parse(await readFile(join(dataFolder, 'postgres.json'), 'utf8')) as {
      folder: string;
    };
    await rename(place, `${place}-gone`);
    await expect(database.ping()).rejects.toThrow('its files were removed');
    expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await rename(`${place}-gone`, place);
    await database.ping();
  });

  it('keeps its claim when it is started again', async () => {
    await using database = await open();
    const pid = await serverPid();
    process.kill(pid ?? 0, 'SIGKILL');
    await vi.waitFor(
      async () => {
        expect([pid, undefined]).not.toContain(await serverPid());
        const claims = await database.query(
          "SELECT 1 AS claim FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND application_name = 'daypass-instance'",
        );
        expect(claims).toEqual([{ claim: 1 }]);
      },
      { timeout: 20_000, interval: 100 },
    );
  });
});

describe('a start that fails', () => {
  it('names the folder if the disk is full, and leaves no lock file behind', async ({ skip }) => {
    skip(!(await fillDisk()), 'this process cannot mount a file system');
    try {
      await expect(open()).rejects.toThrow(`The disk of the data folder ${dataFolder} is full. Free some space`);
      expect(await readdir(dataFolder)).toEqual(['other']);
    } finally {
      await run('umount', [dataFolder]);
    }
  });

  it('because of a wrong password reports it at once, and stops the database', async () => {
    const file = join(dataFolder, 'postgres.json');
    const right = await readFile(file, 'utf8');
    await writeFile(file, right.replace(/"password": "[^"]+"/, '"password": "wrong"'));
    await expect(open()).rejects.toMatchObject({ cause: { message: expect.stringMatching(/refuses its password/) } });
    expect(await serverPid()).toBeUndefined();
    await writeFile(file, right);
  });

  it('because it was aborted stops the database and leaves no lock', async () => {
    const stopping = new AbortController();
    const opening = openDatabase({
      dataFolder,
      log: silentLog,
      mode: 'serve',
      isShared: false,
      signal: stopping.signal,
    });
    opening.catch(() => undefined);
    await vi.waitFor(async () => expect(await serverPid()).toBeDefined(), { timeout: 15_000, interval: 1 });
    stopping.abort(new Error('stop'));
    await expect(opening).rejects.toThrow('stop');
    await vi.waitFor(async () => expect(await serverPid()).toBeUndefined(), { timeout: 15_000 });
    expect((await readdir(dataFolder)).toSorted()).toEqual(['postgres', 'postgres.json', 'postgres.log']);
  });
});

describe('a second gateway on the same folder', () => {
  it('is refused if it uses Redis and the first does not', async () => {
    await using _first = await open();
    await expect(openDatabase({ dataFolder, log: silentLog, mode: 'serve', isShared: true })).rejects.toThrow(
      `A gateway without Redis is running on ${dataFolder}. Set REDIS_URL for it as well, or stop it.`,
    );
  });

  it('keeps the database running when the first one stops, if both have Redis', async () => {
    const first = await startGateway('shared');
    await using second = await openDatabase({ dataFolder, log: silentLog, mode: 'serve', isShared: true });
    const pid = await serverPid();
    await stop(first);
    await second.ping();
    expect(await serverPid()).toBe(pid);
  });

  it('is refused, and leaves the first one alone', async () => {
    await using first = await open();
    await expect(open()).rejects.toThrow(
      `Another gateway is running on ${dataFolder}. Stop it, or set another data.folder.`,
    );
    await first.ping();
  });

  it('is let in when the first one was killed', async () => {
    await kill(await startGateway());
    await using second = await open();
    await second.ping();
  });
});

describe('a command', () => {
  it('runs while a gateway does, and leaves its database running', async () => {
    const gateway = await startGateway();
    const command = await open('command');
    await command.ping();
    await command[Symbol.asyncDispose]();
    expect(await serverPid()).toBeDefined();
    await stop(gateway);
    expect(await serverPid()).toBeUndefined();
  });

  it('leaves the database running that it has started when a gateway with Redis has connected since', async () => {
    const command = await openDatabase({ dataFolder, log: silentLog, mode: 'command', isShared: true });
    const pid = await serverPid();
    const gateway = await startGateway('shared');
    await command[Symbol.asyncDispose]();
    expect(await serverPid()).toBe(pid);
    await stop(gateway);
    expect(await serverPid()).toBeUndefined();
  });

  it('starts and stops the database when it is alone', async () => {
    const command = await open('command');
    expect(await serverPid()).toBeDefined();
    await command[Symbol.asyncDispose]();
    expect(await serverPid()).toBeUndefined();
  });

  it('leaves the database running that another command has started', async () => {
    await using first = await open('command');
    const pid = await serverPid();
    const second = await open('command');
    await second[Symbol.asyncDispose]();
    expect(await serverPid()).toBe(pid);
    await first.ping();
  });

  it('leaves the database to a gateway that came meanwhile', async () => {
    const command = await open('command');
    await using gateway = await open();
    await command[Symbol.asyncDispose]();
    await gateway.ping();
  });
});

describe.skipIf(process.getuid?.() !== 0)('files of the database that belong to another user', () => {
  it('are served by that user when root starts, whichever users there are by then', async () => {
    const first = await open();
    await leaveMark(first);
    await first[Symbol.asyncDispose]();
    await run('chown', ['-R', '64321:64321', join(dataFolder, 'postgres')]);
    await using second = await open();
    expect(await readMark(second)).toEqual([{ note: 'kept' }]);
    expect((await stat(`/proc/${await serverPid()}`)).uid).toBe(64_321);
  });

  it('are named with their owner to a user who may not read them, before anything is made anew', async () => {
    const first = await open();
    await first[Symbol.asyncDispose]();
    await run('chown', ['-R', '64321:64321', dataFolder]);
    await chmod(join(dataFolder, 'postgres.json'), 0o600);
    const program = `const { requireReadable } = await import(process.argv[1]);
      process.setuid(64322);
      await requireReadable(process.argv[2], [process.argv[2] + '/postgres.json']).catch(({ message, exitCode }) => console.log(exitCode, message));`;
    const identity = fileURLToPath(import.meta.resolve('#core/platform/database/identity.ts'));
    const words = ['--input-type=module', '-e', program, identity, dataFolder];
    const { stdout } = await run(process.execPath, words);
    expect(stdout).toContain(`78 ${dataFolder}/postgres.json belongs to the user 64321`);
  });
});

describe.skipIf(process.getuid?.() !== 0)('root with a data folder that nobody else may enter', () => {
  it('puts the database elsewhere and finds it again', async () => {
    useNewFolder();
    await chmod(folder, 0o700);
    let place: string | undefined;
    try {
      const first = await open();
      await leaveMark(first);
      ({ folder: place } = JSON.parse(await readFile(join(dataFolder, 'postgres.json'), 'utf8')) as { folder: string });
      await first[Symbol.asyncDispose]();
      expect(place).toMatch(/^\/var\/lib\/daypass\//);
      expect(await readFile(join(dataFolder, 'POSTGRES-IS-ELSEWHERE.txt'), 'utf8')).toContain(place);
      await using second = await open();
      expect(await readMark(second)).toEqual([{ note: 'kept' }]);
    } finally {
      if (place?.startsWith('/var/lib/daypass/') === true) {
        await rm(place, { recursive: true, force: true });
        await expect(access(place)).rejects.toThrow('ENOENT');
        // Stays where other gateways have something in it.
        await rmdir(dirname(place)).catch(() => undefined);
      }
    }
  });
});
