import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordsCheck } from '../../../plugins/log/records-check.ts';
import { arrive, hostOf, MemoryStore, openLog, outcome, TemporaryFolder, until } from './fixture.ts';

function record({ journal }: ReturnType<typeof openLog>): void {
  const exchange = arrive();
  journal.begin(exchange);
  journal.end(exchange, outcome());
}

test('the check of records passes without a log, and while records arrive', async () => {
  using folder = new TemporaryFolder();
  expect(recordsCheck.check(hostOf(undefined))).toEqual({ ok: true });
  const store = new MemoryStore();
  await using log = openLog({ folder, store });
  record(log);
  await until(() => store.records.size === 1);
  expect(recordsCheck.check(hostOf(log))).toEqual({ ok: true });
});

test('the check of records fails once records are late, with the reason of the database', async () => {
  using folder = new TemporaryFolder();
  const store = new MemoryStore();
  store.isAway = true;
  await using log = openLog({ folder, store });
  record(log);
  await until(() => store.inserts > 0);
  expect(recordsCheck.check(hostOf(log, 60_000))).toEqual({ ok: true });
  const found = recordsCheck.check(hostOf(log, 0));
  expect(found).toMatchObject({
    ok: false,
    reason:
      '1 record waits for the database, the oldest for 0 s (connect ECONNREFUSED). Make the database writable; records wait on disk until then.',
  });
  store.isAway = false;
  await until(() => recordsCheck.check(hostOf(log, 60_000)).ok);
});

test('the check of records fails after a loss', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder });
  log.journal.maxBytes = 0;
  record(log);
  expect(recordsCheck.check(hostOf(log))).toMatchObject({
    ok: false,
    reason: expect.stringContaining('1 request has no record since the start (the journal is full)') as string,
  });
});

test('the check of records fails while the journal cannot be written', async () => {
  using folder = new TemporaryFolder();
  await using log = openLog({ folder, dataFolder: join(folder.path, 'data'), checkIntervalMs: 10, recoveryMs: 0 });
  rmSync(join(folder.path, 'data'), { recursive: true });
  writeFileSync(join(folder.path, 'data'), 'in the way');
  await until(() => !recordsCheck.check(hostOf(log)).ok);
  const found = recordsCheck.check(hostOf(log));
  expect(found).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/^The journal cannot be written \(/) as string,
  });
  rmSync(join(folder.path, 'data'));
  await until(() => recordsCheck.check(hostOf(log)).ok);
});
