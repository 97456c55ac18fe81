/**
 * The thread of the journal on a disk that does as the file at the path in DISK_GATE says: with `full` it refuses, with `slow` it needs
 * 2 ms for each look at a file, with `throttled` it needs 30 ms for each call, with `busy` the thread computes until the file is gone, with `end`
 * the thread ends at the next call, with `lag` the thread pauses between its looks for lines and for questions, and otherwise the disk does not answer.
 */
import fs, { existsSync, type PathLike, readFileSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { controlWord } from '../../../plugins/log/disk/ring.ts';

const gate = process.env['DISK_GATE'] as PathLike;
const pause = new Int32Array(new SharedArrayBuffer(4));
const { writeSync, statSync, openSync } = fs;
const { load } = Atomics;

function stateOfDisk(): string | undefined {
  try {
    return existsSync(gate) ? readFileSync(gate, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

function waitForDisk(isLook: boolean): void {
  for (let state = stateOfDisk(); state !== undefined && state !== 'lag'; state = stateOfDisk()) {
    if (state === 'full') throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    if (state === 'end') {
      rmSync(gate);
      process.exit(1);
    }
    if (state === 'slow' && !isLook) return;
    if (state === 'busy') continue;
    if (state === 'throttled') return void Atomics.wait(pause, 0, 0, 30);
    Atomics.wait(pause, 0, 0, state === 'slow' ? 2 : 5);
    if (state === 'slow') return;
  }
}

function slow<Call extends (...values: never[]) => unknown>(call: Call): Call {
  return ((...values: never[]) => {
    waitForDisk(call === (statSync as unknown));
    return call(...values);
  }) as Call;
}

Object.assign(fs, { writeSync: slow(writeSync), statSync: slow(statSync), openSync: slow(openSync) });
syncBuiltinESMExports();
Atomics.load = ((words: Int32Array, index: number) => {
  if (index === controlWord.requestCount && stateOfDisk() === 'lag') Atomics.wait(pause, 0, 0, 100);
  return load(words, index);
}) as typeof Atomics.load;
await import('../../../plugins/log/disk/thread.ts');
