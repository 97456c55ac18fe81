import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ThreadedDisk } from '../../../plugins/log/disk/disk.ts';
import type { RequestLog } from '../../../plugins/log/request-log.ts';
import { arrive, identify, MemoryStore, openLog, outcome, TemporaryFolder, until } from './fixture.ts';

interface Damage {
  readonly name: string;
  /** Prepares the folder before the log is opened. */
  prepare?(folder: string): void;
  act(folder: string): void;
  /** Puts right what the gateway does not. */
  undo?(folder: string): void;
}

class DisposableMounts implements Disposable {
  readonly #paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.#paths = paths;
  }

  [Symbol.dispose](): void {
    for (const path of this.#paths) run('umount', '-l', path);
  }
}

const damages: readonly Damage[] = [
  { name: 'the journal is removed', act: (folder) => remove(join(folder, 'journal')) },
  { name: 'the data folder is removed', act: remove },
  {
    name: 'the journal is replaced by a file',
    act(folder) {
      remove(join(folder, 'journal'));
      writeFileSync(join(folder, 'journal'), 'not a folder');
    },
    undo: (folder) => rmSync(join(folder, 'journal')),
  },
  { name: 'the journal is renamed', act: (folder) => renameSync(join(folder, 'journal'), join(folder, 'former')) },
  {
    name: 'the segments are removed',
    act(folder) {
      const journal = join(folder, 'journal');
      for (const name of readdirSync(journal)) if (name.endsWith('.ndjson')) rmSync(join(journal, name));
    },
  },
  { name: 'the files in the journal are removed', act: (folder) => run('sh', '-c', `rm -f ${folder}/journal/*`) },
];

const unmounts: readonly Damage[] = [
  {
    name: 'the volume of the journal is unmounted',
    prepare: (folder) => mount(join(folder, 'journal')),
    act: (folder) => unmount(join(folder, 'journal')),
  },
  { name: 'the volume of the data folder is unmounted', prepare: mount, act: unmount },
];

/** Sends requests in small groups until it is stopped; some of them last. */
function sendLoad(log: RequestLog): { readonly sent: string[]; stop(): Promise<void> } {
  const sent: string[] = [];
  const over = new AbortController();
  const loop = async (pause: number) => {
    while (!over.signal.aborted) {
      const exchange = identify(arrive());
      sent.push(exchange.id);
      log.journal.begin(exchange);
      log.journal.enter(exchange);
      await new Promise((resolve) => setTimeout(resolve, pause));
      log.journal.end(exchange, outcome());
    }
  };
  const loops = Promise.all([0, 1, 1, 2, 40, 150].map(loop));
  return {
    sent,
    async stop() {
      over.abort();
      await loops;
    },
  };
}

const nextRecords = (store: MemoryStore) => {
  const { size } = store.records;
  return until(() => store.records.size > size + 100);
};

describe('while requests are recorded and', () => {
  it.each([...damages, ...(canMount() ? unmounts : [])])(
    '$name, every record arrives',
    async ({ prepare, act, undo }) => {
      using folder = new TemporaryFolder();
      const data = join(folder.path, 'data');
      mkdirSync(data);
      prepare?.(data);
      const store = new MemoryStore();
      const log = openLog({ folder, dataFolder: data, store, checkIntervalMs: 50, disk: new ThreadedDisk() });
      const load = sendLoad(log);
      await nextRecords(store);
      act(data);
      await nextRecords(store);
      undo?.(data);
      await nextRecords(store);
      await load.stop();
      await log[Symbol.asyncDispose]();
      expect(load.sent.filter((id) => store.records.get(id)?.['outcome'] !== 'answered')).toEqual([]);
      expect(log.journal.losses.total).toBe(0);
      expect(log.out.join('\n')).toContain('was removed, replaced or unmounted while it was in use');
      expect(log.out.join('\n')).not.toContain('another instance');
    },
  );

  it.each(damages)('$name while the database is away, the next start finds every record', async ({ act, undo }) => {
    using folder = new TemporaryFolder();
    const data = join(folder.path, 'data');
    mkdirSync(data);
    const store = new MemoryStore();
    store.isAway = true;
    const log = openLog({ folder, dataFolder: data, store, checkIntervalMs: 50, disk: new ThreadedDisk() });
    const load = sendLoad(log);
    await until(() => load.sent.length > 200);
    act(data);
    await until(() => load.sent.length > 400);
    undo?.(data);
    await until(() => load.sent.length > 600);
    await load.stop();
    await log[Symbol.asyncDispose]();
    expect(log.journal.losses.total).toBe(0);
    store.isAway = false;
    await using _ = openLog({ folder, dataFolder: data, store, instance: 'next' });
    // A renamed folder keeps what it has.
    await until(() => load.sent.every((id) => store.records.has(id)));
    expect(new Set(store.pluck('outcome'))).toEqual(new Set(['answered']));
  });
});

describe('an unmounted volume', () => {
  it.runIf(canMount())('is not replaced by files on another disk, and is used again once it is back', async () => {
    using folder = new TemporaryFolder();
    const [data, volume] = [join(folder.path, 'data'), join(folder.path, 'volume')];
    mkdirSync(join(data, 'journal'), { recursive: true });
    mount(volume);
    run('mount', '--bind', volume, join(data, 'journal'));
    using _ = new DisposableMounts([join(data, 'journal'), volume]);
    const store = new MemoryStore();
    await using log = openLog({
      folder,
      dataFolder: data,
      store,
      checkIntervalMs: 50,
      recoveryMs: 0,
      disk: new ThreadedDisk(),
    });
    const load = sendLoad(log);
    await nextRecords(store);
    run('umount', '-l', join(data, 'journal'));
    await until(() => log.journal.trouble !== undefined);
    await nextRecords(store);
    expect(log.journal.trouble?.reason).toMatch(/^the volume of .*journal is not mounted; mount it/);
    expect(readdirSync(join(data, 'journal'))).toEqual([]);
    run('mount', '--bind', volume, join(data, 'journal'));
    await until(() => log.journal.trouble === undefined);
    expect(readdirSync(join(data, 'journal'))).not.toEqual([]);
    await load.stop();
    await until(() => load.sent.every((id) => store.records.has(id)));
    expect(log.journal.losses.total).toBe(0);
  });
});

function remove(path: string): void {
  // A request may write a file meanwhile.
  while (existsSync(path)) rmSync(path, { recursive: true, force: true });
}

function mount(path: string): void {
  mkdirSync(path, { recursive: true });
  run('mount', '-t', 'tmpfs', 'daypass-test', path);
}

function unmount(path: string): void {
  run('umount', '-l', path);
}

function canMount(): boolean {
  using folder = new TemporaryFolder();
  try {
    mount(folder.path);
    unmount(folder.path);
    return true;
  } catch {
    return false;
  }
}

function run(command: string, ...parameters: string[]): void {
  execFileSync(command, parameters, { stdio: 'pipe' });
}
