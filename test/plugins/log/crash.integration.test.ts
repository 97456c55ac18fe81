import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RequestLog } from '../../../plugins/log/request-log.ts';
import { MemoryLog, MemoryStore, TemporaryFolder, until } from './fixture.ts';

/** Ms for a process to start and to write, on a busy machine. */
const patience = 50_000;
const child = join(import.meta.dirname, 'crash-child.ts');

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

async function runAndKill(folder: TemporaryFolder, instance: string, after: number): Promise<void> {
  const before = linesOf(join(folder.path, 'answered')).length;
  const victim = spawn(process.execPath, [child, folder.path, instance], { stdio: ['pipe', 'ignore', 'inherit'] });
  const gone = once(victim, 'exit');
  try {
    await until(() => linesOf(join(folder.path, 'answered')).length > before + after, patience);
  } finally {
    victim.kill('SIGKILL');
  }
  expect(await gone).toEqual([null, 'SIGKILL']);
}

test('after kill -9 under load every answered request has one record, and what was running is interrupted', async () => {
  using folder = new TemporaryFolder();
  const instances = [1, 500, 2_000, 5_000].map((after, index) => ({ name: `child${index}`, after }));
  for (const { name, after } of instances) await runAndKill(folder, name, after);
  const store = new MemoryStore();
  const log = new MemoryLog();
  {
    await using _ = new RequestLog({ dataFolder: folder.path, instance: 'last', log, store });
    await until(() => log.lines.some((line) => line.includes('all records of dead instance child3')), patience);
  }
  for (const line of instances.flatMap(({ name }) => linesOf(join(folder.path, `shipped-${name}`)))) {
    const [instance = '', record = ''] = line.split('\t');
    await store.insert(instance, [record]);
  }
  const answered = linesOf(join(folder.path, 'answered'));
  const running = linesOf(join(folder.path, 'running'));
  expect(answered.length).toBeGreaterThan(7_500);
  expect(answered.filter((id) => !store.records.has(id))).toEqual([]);
  expect(running.filter((id) => store.records.get(id)?.['outcome'] !== 'interrupted')).toEqual([]);
  // Ends of the very last turn may not be on file; nothing else may look interrupted.
  const lastTurns = answered.filter((id) => store.records.get(id)?.['outcome'] !== 'answered');
  expect(lastTurns.length).toBeLessThanOrEqual(4 * 2 * 8);
  expect(folder.journal()).toEqual([]);
  expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([]);
});
