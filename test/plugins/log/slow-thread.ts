/** The thread of the journal on a disk that does not answer while there is a file at the path in DISK_GATE, or is full. */
import fs, { existsSync, type PathLike, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const gate = process.env['DISK_GATE'] as PathLike;
const pause = new Int32Array(new SharedArrayBuffer(4));
const { writeSync, statSync, openSync } = fs;

function waitForDisk(): void {
  while (existsSync(gate)) {
    if (readFileSync(gate, 'utf8') === 'full')
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    Atomics.wait(pause, 0, 0, 5);
  }
}

function slow<Call extends (...values: never[]) => unknown>(call: Call): Call {
  return ((...values: never[]) => {
    waitForDisk();
    return call(...values);
  }) as Call;
}

Object.assign(fs, { writeSync: slow(writeSync), statSync: slow(statSync), openSync: slow(openSync) });
syncBuiltinESMExports();
await import('../../../plugins/log/disk/thread.ts');
