import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ThreadedDisk } from '../../../plugins/log/disk/disk.ts';
import { arrive, identify, MemoryStore, openLog, outcome, type TemporaryFolder } from './fixture.ts';

/** Ms that a begin line may be waited for, with what a busy machine adds. */
export const patience = 2_000;

/** A disk that can be stopped. */
export function openDisk(folder: TemporaryFolder) {
  const gate = join(folder.path, 'gate');
  // The thread gets a copy.
  process.env['DISK_GATE'] = gate;
  const disk = new ThreadedDisk(new URL('./slow-thread.ts', import.meta.url));
  delete process.env['DISK_GATE'];
  return {
    disk,
    stop: () => writeFileSync(gate, ''),
    fill: () => writeFileSync(gate, 'full'),
    end: () => writeFileSync(gate, 'end'),
    slowDown: () => writeFileSync(gate, 'slow'),
    throttle: () => writeFileSync(gate, 'throttled'),
    keepBusy: () => writeFileSync(gate, 'busy'),
    lag: () => writeFileSync(gate, 'lag'),
    go: () => rmSync(gate, { force: true }),
    [Symbol.dispose]() {
      rmSync(gate, { force: true });
    },
  };
}

export function openSlow(
  folder: TemporaryFolder,
  { store = new MemoryStore(), ...options }: Partial<Parameters<typeof openLog>[0]> & { store?: MemoryStore } = {},
) {
  const dataFolder = join(folder.path, 'data');
  mkdirSync(dataFolder, { recursive: true });
  const gated = openDisk(folder);
  const log = openLog({ folder, dataFolder, store, disk: gated.disk, ...options });
  return { ...gated, store, log };
}

export async function record(log: ReturnType<typeof openLog>): Promise<{ id: string; waited: number }> {
  const exchange = identify(arrive());
  const began = performance.now();
  log.journal.begin(exchange);
  await log.journal.whenWritten(exchange);
  const waited = performance.now() - began;
  log.journal.end(exchange, outcome());
  return { id: exchange.id, waited };
}
