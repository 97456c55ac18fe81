import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Asked, Killed, type Machine } from './machine.ts';
import { NetObject, throwNet, toText } from './values.ts';

const windows = join(import.meta.dirname, 'windows.cjs');

/** Runs node here for node.exe, as if this were Windows, and notes for icacls.exe which path is to be protected. */
export function startProcess(machine: Machine, start: NetObject): NetObject {
  const words = [...toText(start.members['Arguments']).matchAll(/"((?:[^"\\]|\\.)*)"|\S+/g)].map(
    ([whole, quoted]) => quoted ?? whole,
  );
  const file = toText(start.members['FileName']);
  if (file.endsWith('\\icacls.exe')) {
    machine.protected.push(words[0]!);
    return ended(0, '');
  }
  if (!file.endsWith('\\node.exe'))
    throwNet('ComponentModel.Win32Exception', 'The system cannot find the file specified');
  if (machine.environment.has('NODE_OPTIONS')) throw new Error('NODE_OPTIONS are not hidden');
  if (words[0] === '--version') return ended(0, 'v26.0.0');
  return spawn(machine, words);
}

function spawn(machine: Machine, [program = '', ...words]: readonly string[]): NetObject {
  const { root, changes, lastChange, held, replies } = machine;
  const log = join(root, 'log');
  rmSync(log, { force: true });
  const described = { root, log, changes, lastChange: Math.min(lastChange, 1e9), held: [...held], replies };
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [windows, machine.real(program), ...words.map((word) => word.replaceAll(/\\(["\\])/g, '$1'))],
    {
      encoding: 'utf8',
      env: { ...Object.fromEntries(machine.environment), WINDOWS_MACHINE: JSON.stringify(described) },
    },
  );
  readLog(machine, log);
  if (status === null) throw new Killed('the program was killed');
  if (stderr !== '') throw new Error(stderr);
  return ended(status, stdout);
}

function readLog(machine: Machine, log: string): void {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
  rmSync(log, { force: true });
  for (const line of lines) {
    if (line === 'change') machine.changes++;
    else if (line.startsWith('protect ')) machine.protected.push(line.slice(8));
    else if (line.startsWith('asked ')) machine.asked.push(JSON.parse(line.slice(6)) as Asked);
  }
}

function ended(code: number, output: string): NetObject {
  const lines = output === '' ? [] : output.replace(/\n$/, '').split('\n');
  const next = () => new NetObject('Task', { Wait: () => true, Result: lines.shift() ?? null });
  return new NetObject('Process', {
    StandardOutput: new NetObject('StreamReader', { ReadLineAsync: next }),
    WaitForExit: () => true,
    Kill: () => {},
    ExitCode: code,
    Dispose: () => {},
  });
}
