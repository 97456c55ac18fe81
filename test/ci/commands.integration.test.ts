import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPage } from './markdown.ts';

const root = join(import.meta.dirname, '..', '..');
const marked = globSync('{README.md,docs/**/*.md}', { cwd: root }).flatMap((page) =>
  readPage(readFileSync(join(root, page), 'utf8')).commands.map((commands) => ({ page, commands })),
);

let home = '';
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'daypass-docs-'));
});
afterAll(async () => rm(home, { recursive: true, force: true }));

it('several pages mark commands that a reader runs in a checkout', () => {
  expect(new Set(marked.map(({ page }) => page)).size).toBeGreaterThan(2);
});

it.each(marked)('the commands of $page run in a checkout: $commands', async ({ commands }) => {
  const run = promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: home, PORT: '0' },
    timeout: 60_000,
  });
  await expect(run).resolves.toBeDefined();
});
