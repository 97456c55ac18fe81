import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';

it('the PostgreSQL of a run that is killed ends with it, and its folder is removed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-test-'));
  // Stands in for a server, which would take seconds to create.
  const server = spawn('sleep', ['60'], { stdio: 'ignore' });
  const ended = once(server, 'exit');
  await mkdir(join(folder, 'postgres'));
  await writeFile(join(folder, 'postgres', 'postmaster.pid'), `${server.pid}\n${folder}\n`);
  const module = join(import.meta.dirname, 'postgres-reaper.ts');
  const code = `import { reapWithProcess } from '${module}';
    reapWithProcess('${folder}'); console.log('reaped'); setInterval(() => {}, 1_000);`;
  const run = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(run.stdout, 'data');
  run.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGQUIT']);
  await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 20_000 });
});
