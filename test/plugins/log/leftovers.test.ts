import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { InstanceLock } from '../../../plugins/log/instance-lock.ts';
import { Leftovers } from '../../../plugins/log/leftovers.ts';
import { TemporaryFolder } from './fixture.ts';

it('removes the lock of an instance that was killed after everything had been shipped, and no other', () => {
  using folder = new TemporaryFolder();
  const events = { onLost: () => undefined, onFailure: () => undefined };
  using _ = new InstanceLock(folder.path, 'self', events);
  using _other = new InstanceLock(folder.path, 'alive', events);
  const owner = JSON.parse(readFileSync(join(folder.path, 'self.lock'), 'utf8')) as object;
  for (const name of ['killed', 'unshipped'])
    writeFileSync(join(folder.path, `${name}.lock`), JSON.stringify({ ...owner, pid: 2 ** 22 + 1 }));
  writeFileSync(join(folder.path, 'unshipped-00000001.ndjson'), '');
  new Leftovers(folder.path, 'self').find();
  expect(readdirSync(folder.path).toSorted()).toEqual([
    'alive.lock',
    'self.lock',
    'unshipped-00000001.ndjson',
    'unshipped.lock',
  ]);
});
