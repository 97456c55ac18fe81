import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listMigrations, loadMigrations } from '#core/platform/database/migration-files.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
const released = [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, version = '']) => version);
const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
};

const sandbox = {
  name: 'payments_sandbox',
  entities: () => Promise.resolve([]),
  migrations: pathToFileURL(join(root, 'plugins', 'payments', 'sandbox', 'migrations', '/')),
};

describe('a migration', async () => {
  const sets = await Promise.all((await listMigrations([sandbox])).map(loadMigrations));
  const all = sets.flatMap(({ migrations }) => migrations);

  it.each(all.map(({ name, class: { since } }) => [name, since] as const))(
    '%s states the version that brought it, as `static readonly since`',
    (_name, since) => {
      expect([...released, current]).toContain(since);
    },
  );

  it('comes after those of earlier versions, which a database may have without it', () => {
    for (const { migrations } of sets) {
      const versions = migrations.map(({ class: { since = '' } }) => since);
      expect(versions).toEqual(versions.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })));
    }
  });
});

it('no migration of 0.6.0 or later builds an index while it holds a lock that readers of records wait for', async () => {
  const files = (await readdir(join(root, 'migrations'))).filter((name) => name > 'Migration20261129');
  expect(files.length).toBeGreaterThan(5);
  const both = files.filter((name) => {
    const text = readFileSync(join(root, 'migrations', name), 'utf8');
    return /ALTER TABLE request_log\b/.test(text) && /CREATE INDEX[^;]* ON request_log\b/.test(text);
  });
  expect(both).toEqual([]);
});

it('the version of the package is the newest of the changelog', () => {
  expect(released[0]).toBe(current);
});
