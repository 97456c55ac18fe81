import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findPostmasterPid, removeStalePid } from '#core/platform/database/postmaster.ts';
import { ServerRestarter } from '#core/platform/database/server-restarter.ts';
import { createLogger } from '#core/platform/logger.ts';

// Reading a file fails with EMFILE when descriptors run out. A folder in its place fails as well.
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'daypass-unreadable-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('a pid file that cannot be read is not taken for that of a stopped server', async () => {
  await mkdir(join(folder, 'postmaster.pid'));
  await expect(findPostmasterPid(folder)).rejects.toThrow('EISDIR');
  await expect(removeStalePid(folder)).rejects.toThrow('EISDIR');
  expect((await stat(join(folder, 'postmaster.pid'))).isDirectory()).toBe(true);
});

it('a server without a pid file is stopped', async () => {
  expect(await findPostmasterPid(folder)).toBeUndefined();
});

it('a server of which nothing can be read is not restarted', async () => {
  const lines: string[] = [];
  const looked = Promise.withResolvers<void>();
  let looks = 0;
  const server = {
    isAlive: () => {
      if (++looks === 3) looked.resolve();
      return Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
    },
    restart: () => Promise.reject(new Error('it runs')),
  };
  await using _restarter = new ServerRestarter(
    server,
    createLogger((line) => void lines.push(line)),
    1,
  );
  await looked.promise;
  expect(lines.join('\n')).not.toContain('has stopped');
});
