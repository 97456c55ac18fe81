import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { machine } from '../../../../plugins/setup/script/program/machine.mjs';

it.each([
  ['to its end', 200_000, 300_000],
  ['to the limit', 300_000, 200_000],
])('a pipe that holds less than its writer sends is read %s', async (_name, sent, limit) => {
  const folder = mkdtempSync(join(tmpdir(), 'machine-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', 'head -c "$1" /dev/zero > "$2"', 'sh', String(sent), pipe], { stdio: 'ignore' });
  try {
    expect(machine.read(pipe, limit)).toHaveLength(200_000);
  } finally {
    if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
    rmSync(folder, { recursive: true });
  }
});
