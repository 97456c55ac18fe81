import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { explainFullDisk, diskCheck } from '#core/gateway/health/disk-check.ts';
import type { Host } from '#core/gateway/host/host.ts';

test('a full disk passes again only with a tenth more than the minimum', async () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const free = bavail * bsize;
  let least = 0;
  const kept = new Map<string, object>();
  const host = {
    dataFolder: tmpdir(),
    section: () => ({ min_free_bytes: least }),
    now: () => 1_000,
    keep: (key: string, create: () => object) => {
      const value = kept.get(key) ?? create();
      kept.set(key, value);
      return value;
    },
  } as unknown as Host;
  const verdictAt = async (minimum: number) => {
    least = Math.round(minimum);
    await diskCheck.refresh?.(host);
    return diskCheck.check(host);
  };
  expect(await verdictAt(free * 0.95)).toEqual({ ok: true });
  expect(await verdictAt(free * 2)).toMatchObject({ ok: false, since: 1_000 });
  expect(await verdictAt(free * 0.95)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('not yet a tenth more than data.min_free_bytes'),
  });
  expect(await verdictAt(free * 0.5)).toEqual({ ok: true });
  expect(await verdictAt(free * 0.95)).toEqual({ ok: true });
});

test('a disk without inodes is full, however many bytes are free on it', () => {
  const room = { free: 9e12, inodes: 999 };
  expect(explainFullDisk(room, '/data', 5e8, 5e8)).toMatch(/^The disk of \/data has 999 inodes left/);
  expect(explainFullDisk({ ...room, inodes: 1_000 }, '/data', 5e8, 5e8)).toBeUndefined();
  expect(explainFullDisk({ ...room, inodes: Infinity }, '/data', 5e8, 5e8)).toBeUndefined();
});
