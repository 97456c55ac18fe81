import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findWatchedFolders, watchFiles } from '#core/config/file/watch.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-watch-'));
  file = join(folder, 'gateway.yaml');
  await writeFile(file, 'one');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A watch whose calls can be waited for, one after the other; each is told with the content at that time. */
function startWatch(path = file) {
  const seen: string[] = [];
  const errors: Error[] = [];
  let { promise: news, resolve: wake } = Promise.withResolvers<void>();
  const watch = watchFiles(
    () => [path],
    () => {
      void readFile(path, 'utf8')
        .catch(() => 'gone')
        .then((text) => {
          seen.push(text);
          wake();
        });
    },
    (error) => {
      errors.push(error);
      wake();
    },
  );
  const until = async (isThere: () => boolean) => {
    while (!isThere()) {
      await news;
      ({ promise: news, resolve: wake } = Promise.withResolvers<void>());
    }
  };
  return {
    seen,
    errors,
    sees: (text: string) => until(() => seen.includes(text)),
    fails: () => until(() => errors.length > 0),
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

/** Waits until every watch of the folder has looked: a neighbour that changes is seen by a watch of its own. */
async function settle(): Promise<void> {
  const neighbour = join(folder, 'neighbour.yaml');
  await writeFile(neighbour, 'before');
  using watch = startWatch(neighbour);
  await watch.sees('before');
  await writeFile(neighbour, 'after');
  await watch.sees('after');
}

/** True while this process watches a folder, by what the kernel says of its inotify instances. */
async function isWatched(path: string): Promise<boolean> {
  const { ino } = await stat(path);
  const open = await readdir('/proc/self/fdinfo');
  const texts = await Promise.all(open.map((fd) => readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => '')));
  return texts.some((text) => text.includes(` ino:${ino.toString(16)} `));
}

describe('a watched file', () => {
  it('is read when the watch begins, so that no earlier change is missed', async () => {
    await writeFile(file, 'changed since it was loaded');
    using watch = startWatch();
    await watch.sees('changed since it was loaded');
  });

  it('is reported when it is written in place', async () => {
    using watch = startWatch();
    await watch.sees('one');
    await writeFile(file, 'two');
    await watch.sees('two');
  });

  it('is reported when it is removed, and when it is back', async () => {
    using watch = startWatch();
    await watch.sees('one');
    await rm(file);
    await watch.sees('gone');
    await writeFile(file, 'two');
    await watch.sees('two');
  });

  it('is reported when another file replaces it', async () => {
    using watch = startWatch();
    await watch.sees('one');
    await writeFile(`${file}.new`, 'two');
    await rename(`${file}.new`, file);
    await watch.sees('two');
  });

  it('is still watched after another file has replaced it', async () => {
    using watch = startWatch();
    await watch.sees('one');
    await writeFile(`${file}.new`, 'two');
    await rename(`${file}.new`, file);
    await watch.sees('two');
    await writeFile(file, 'three');
    await watch.sees('three');
  });

  it('is reported when it is back after a removal', async () => {
    using watch = startWatch();
    await watch.sees('one');
    await rm(file);
    await writeFile(file, 'two');
    await watch.sees('two');
  });

  it('is not reported when it is written with the same content', async () => {
    using watch = startWatch();
    await watch.sees('one');
    await writeFile(file, 'one');
    await settle();
    await writeFile(file, 'two');
    await watch.sees('two');
    expect(watch.seen).toEqual(['one', 'two']);
  });

  it('is not reported when another file of the folder changes', async () => {
    using watch = startWatch();
    await watch.sees('one');
    await settle();
    await writeFile(file, 'two');
    await watch.sees('two');
    expect(watch.seen).toEqual(['one', 'two']);
  });

  it('is reported when its folder does not exist', async () => {
    using watch = startWatch(join(folder, 'nowhere', 'gateway.yaml'));
    await watch.fails();
    expect(watch.errors).toEqual([expect.objectContaining({ code: 'ENOENT' })]);
  });

  it('is not reported after the watch has ended', async () => {
    const watch = startWatch();
    await watch.sees('one');
    watch[Symbol.dispose]();
    using later = startWatch();
    await later.sees('one');
    await writeFile(file, 'two');
    await later.sees('two');
    expect(watch.seen).toEqual(['one']);
  });
});

describe('a watched link', () => {
  it('is reported when its target in another folder is written in place', async () => {
    const other = join(folder, 'elsewhere');
    await mkdir(other);
    await writeFile(join(other, 'real.yaml'), 'one');
    const link = join(folder, 'link.yaml');
    await symlink(join('elsewhere', 'real.yaml'), link);
    using watch = startWatch(link);
    await watch.sees('one');
    await writeFile(join(other, 'real.yaml'), 'two');
    await watch.sees('two');
  });

  it('is reported when its target changes, and its new target is watched', async () => {
    const other = join(folder, 'elsewhere');
    await mkdir(other);
    await writeFile(join(other, 'real.yaml'), 'two');
    const link = join(folder, 'link.yaml');
    await symlink('gateway.yaml', link);
    using watch = startWatch(link);
    await watch.sees('one');
    await symlink(join('elsewhere', 'real.yaml'), `${link}.new`);
    await rename(`${link}.new`, link);
    await watch.sees('two');
    await writeFile(join(other, 'real.yaml'), 'three');
    await watch.sees('three');
  });

  it('is reported when a link to a folder above it is replaced, and the new folder is watched', async () => {
    for (const release of ['one', 'two']) {
      await mkdir(join(folder, 'releases', release, 'config'), { recursive: true });
      await writeFile(join(folder, 'releases', release, 'config', 'gateway.yaml'), release);
    }
    const current = join(folder, 'current');
    await symlink(join('releases', 'one'), current);
    using watch = startWatch(join(current, 'config', 'gateway.yaml'));
    await watch.sees('one');
    await symlink(join('releases', 'two'), `${current}.new`);
    await rename(`${current}.new`, current);
    await watch.sees('two');
    await writeFile(join(folder, 'releases', 'two', 'config', 'gateway.yaml'), 'three');
    await watch.sees('three');
  });

  it.skipIf(process.platform !== 'linux')(
    'drops the watcher of a folder that it no longer leads to, and all watchers at the end',
    async () => {
      const [old, other] = [join(folder, 'old'), join(folder, 'other')];
      for (const one of [old, other]) {
        await mkdir(one);
        await writeFile(join(one, 'gateway.yaml'), one);
      }
      const link = join(folder, 'link.yaml');
      await symlink(join(old, 'gateway.yaml'), link);
      const watch = startWatch(link);
      await watch.sees(old);
      expect(await Promise.all([old, other].map(isWatched))).toEqual([true, false]);
      await symlink(join(other, 'gateway.yaml'), `${link}.new`);
      await rename(`${link}.new`, link);
      await watch.sees(other);
      expect(await Promise.all([old, other].map(isWatched))).toEqual([false, true]);
      watch[Symbol.dispose]();
      expect(await Promise.all([old, other, folder].map(isWatched))).toEqual([false, false, false]);
    },
  );

  it('is reported when a link in the middle of several is replaced', async () => {
    const between = join(folder, 'between');
    await mkdir(between);
    await writeFile(join(folder, 'second.yaml'), 'two');
    await symlink(join('..', 'gateway.yaml'), join(between, 'chosen.yaml'));
    const link = join(folder, 'link.yaml');
    await symlink(join('between', 'chosen.yaml'), link);
    using watch = startWatch(link);
    await watch.sees('one');
    await symlink(join('..', 'second.yaml'), join(between, 'new.yaml'));
    await rename(join(between, 'new.yaml'), join(between, 'chosen.yaml'));
    await watch.sees('two');
  });

  it('is no longer watched where it led before', async () => {
    const other = join(folder, 'elsewhere');
    await mkdir(other);
    await writeFile(join(other, 'real.yaml'), 'one');
    const link = join(folder, 'link.yaml');
    await symlink(join('elsewhere', 'real.yaml'), link);
    expect(await findWatchedFolders(link)).toEqual([await realpath(folder), await realpath(other)]);
    await rm(link);
    await symlink('gateway.yaml', link);
    expect(await findWatchedFolders(link)).toEqual([await realpath(folder)]);
  });

  it('is reported each time Kubernetes switches the folder behind it', async () => {
    const mount = join(folder, 'mount');
    await mkdir(mount);
    const publish = async (version: string) => {
      await mkdir(join(mount, `..${version}`));
      await writeFile(join(mount, `..${version}`, 'gateway.yaml'), version);
      await symlink(`..${version}`, join(mount, '..data_tmp'));
      await rename(join(mount, '..data_tmp'), join(mount, '..data'));
    };
    await publish('one');
    const mounted = join(mount, 'gateway.yaml');
    await symlink(join('..data', 'gateway.yaml'), mounted);
    using watch = startWatch(mounted);
    await watch.sees('one');
    await publish('two');
    await rm(join(mount, '..one'), { recursive: true });
    await watch.sees('two');
    await publish('three');
    await rm(join(mount, '..two'), { recursive: true });
    await watch.sees('three');
  });
});

/** A watch whose calls can be waited for one by one, over files that can be exchanged. */
function startSeveral(named: string[]) {
  let calls = 0;
  const errors: string[] = [];
  let { promise: news, resolve: wake } = Promise.withResolvers<void>();
  const note = (work: () => void) => () => {
    work();
    wake();
  };
  const watch = watchFiles(
    () => named,
    note(() => calls++),
    (_error, path) => note(() => errors.push(path))(),
  );
  const until = async (isThere: () => boolean) => {
    while (!isThere()) {
      await news;
      ({ promise: news, resolve: wake } = Promise.withResolvers<void>());
    }
  };
  return {
    errors,
    refresh: () => watch.refresh(),
    called: (times: number) => until(() => calls >= times),
    calls: () => calls,
    fails: () => until(() => errors.length > 0),
    [Symbol.dispose]: () => watch[Symbol.dispose](),
  };
}

describe('several watched files', () => {
  it('are reported together at first, and then each time that one of them changes', async () => {
    const secret = join(folder, 'secret');
    await writeFile(secret, 'one');
    using watch = startSeveral([file, secret]);
    await watch.called(1);
    await writeFile(secret, 'two');
    await watch.called(2);
    await writeFile(file, 'two');
    await watch.called(3);
    expect(watch.calls()).toBe(3);
  });

  it('are reported when a secret that was not there appears', async () => {
    const secret = join(folder, 'secret');
    using watch = startSeveral([file, secret]);
    await watch.called(1);
    await writeFile(secret, 'one');
    await watch.called(2);
  });

  it('are others when a changed file names others, which are reported from then on', async () => {
    const other = join(folder, 'other');
    await mkdir(other);
    const secret = join(other, 'secret');
    await writeFile(secret, 'one');
    const named = [file];
    using watch = startSeveral(named);
    await watch.called(1);
    named.push(secret);
    watch.refresh();
    // Until it is watched, a change is not seen.
    let version = 0;
    const rotation = setInterval(() => writeFileSync(secret, `${version++}`), 250);
    await watch.called(2).finally(() => clearInterval(rotation));
  });

  it('are watched although one of them cannot be, which is reported once', async () => {
    const nowhere = join(folder, 'nowhere', 'secret');
    using watch = startSeveral([nowhere, file]);
    await watch.fails();
    await watch.called(1);
    await writeFile(file, 'two');
    await watch.called(2);
    expect(watch.errors).toEqual([nowhere]);
  });
});
