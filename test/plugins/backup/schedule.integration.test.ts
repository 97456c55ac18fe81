import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { data } from '#core/config/sections/core-sections.ts';
import { createTestHost } from '#core/extension/testing/index.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Database } from '#core/platform/database/database.ts';
import { backupCheck, backupGauges } from '../../../plugins/backup/backup-state.ts';
import { backupJob } from '../../../plugins/backup/take-scheduled.ts';
import { createTestDatabase } from '../../support/database.ts';

const hour = 3_600_000;
let database: Database;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'daypass-schedule-'));
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

it('backups follow their schedule, old ones are deleted, and a failure is reported until the next success', async () => {
  const sections = { backup: { every: 'day', keep: 2, to: folder }, [data.name]: { folder, min_free_bytes: 1 } };
  await using inner = createTestHost({ database, sections });
  let clock = Date.parse('2026-11-26T03:00:00Z');
  const host: Host = { ...inner, dataFolder: folder, now: () => clock, monotonic: () => clock };
  const files = async () => (await readdir(folder)).filter((name) => name.endsWith('.backup')).toSorted();
  const later = async (hours: number) => {
    clock += hours * hour;
    await backupJob.run({}, host);
    return files();
  };
  const gauges = async () => {
    const readings = await Promise.all(
      backupGauges.map(async ({ name, read }) => [name, [...(await read(host))][0]?.value]),
    );
    return Object.fromEntries(readings) as Record<string, number>;
  };
  await backupCheck.refresh?.(host);
  expect(backupCheck.check(host)).toEqual({ ok: true });
  expect(await later(0)).toEqual(['daypass-20261126T030000Z.backup']);
  expect(await later(12)).toHaveLength(1);
  expect(await later(12)).toEqual(['daypass-20261126T030000Z.backup', 'daypass-20261127T030000Z.backup']);
  expect(await later(24)).toEqual(['daypass-20261127T030000Z.backup', 'daypass-20261128T030000Z.backup']);
  expect(await gauges()).toMatchObject({ backup_last_success_timestamp_seconds: clock / 1000, backup_failed: 0 });

  clock += 24 * hour;
  await writeFile(join(folder, 'file'), '');
  const broken: Host = {
    ...host,
    section: (section) =>
      section.name === 'backup'
        ? ({ every: 'day', keep: 2, to: join(folder, 'file') } as never)
        : host.section(section),
  };
  await expect(backupJob.run({}, broken)).rejects.toThrow();
  await backupCheck.refresh?.(host);
  expect(backupCheck.check(host)).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/^The last backup failed: /),
  });
  expect((await gauges())['backup_failed']).toBe(1);
  await backupJob.run({}, host);
  await backupCheck.refresh?.(host);
  expect(backupCheck.check(host)).toEqual({ ok: true });

  clock += 37 * hour;
  await backupCheck.refresh?.(host);
  expect(backupCheck.check(host)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('no backup for more than'),
  });
});

it('backups dated ahead, from before the clock was set back, delay no backup and are deleted first', async () => {
  const ahead = await mkdtemp(join(tmpdir(), 'daypass-ahead-'));
  onTestFinished(() => rm(ahead, { recursive: true, force: true }));
  const sections = { backup: { every: 'day', keep: 2, to: ahead }, [data.name]: { folder: ahead, min_free_bytes: 1 } };
  await using inner = createTestHost({ database, sections });
  let clock = Date.parse('2026-11-26T03:00:00Z');
  const host: Host = { ...inner, dataFolder: ahead, now: () => clock, monotonic: () => clock };
  for (const day of ['01', '02']) await writeFile(join(ahead, `daypass-203101${day}T030000Z.backup`), '');
  const files = async () => (await readdir(ahead)).filter((name) => name.endsWith('.backup')).toSorted();
  await backupJob.run({}, host);
  expect(await files()).toEqual(['daypass-20261126T030000Z.backup', 'daypass-20310102T030000Z.backup']);
  clock += 24 * hour;
  await backupJob.run({}, host);
  expect(await files()).toEqual(['daypass-20261126T030000Z.backup', 'daypass-20261127T030000Z.backup']);
});
