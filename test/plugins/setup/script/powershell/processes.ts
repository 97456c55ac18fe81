import { spawnSync } from 'node:child_process';
import type { Machine } from './machine.ts';
import { NetObject, throwNet, toText } from './values.ts';

/** Runs node here for node.exe, and notes for icacls.exe which path is to be protected. */
export function startProcess(machine: Machine, start: NetObject): NetObject {
  const words = [...toText(start.members['Arguments']).matchAll(/"([^"]*)"|\S+/g)].map(
    ([whole, quoted]) => quoted ?? whole,
  );
  const file = toText(start.members['FileName']);
  if (file.endsWith('\\icacls.exe')) {
    machine.protected.push(words[0]!);
    return ended(0, '', '');
  }
  if (words[0] === '-e') return ended(0, '', ''); // It asks for the version.
  if (!file.endsWith('\\node.exe'))
    throwNet('ComponentModel.Win32Exception', 'The system cannot find the file specified');
  if (machine.environment.has('NODE_OPTIONS')) throw new Error('NODE_OPTIONS are not hidden');
  const args = words.map((word) => (word.startsWith('C:\\') ? machine.real(word) : word));
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return ended(status ?? 1, stdout, stderr);
}

const readerOf = (text: string) =>
  new NetObject('StreamReader', { ReadToEndAsync: () => new NetObject('Task', { Result: text }) });

function ended(code: number, output: string, errors: string): NetObject {
  return new NetObject('Process', {
    StandardInput: new NetObject('StreamWriter', { Close: () => {} }),
    StandardOutput: readerOf(output),
    StandardError: readerOf(errors),
    WaitForExit: () => true,
    ExitCode: code,
    Dispose: () => {},
  });
}
