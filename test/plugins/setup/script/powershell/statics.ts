import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, win32 } from 'node:path';
import type { Machine } from './machine.ts';
import { encoding, memoryStream, toBytes } from './objects.ts';
import { toPattern } from './operators.ts';
import { startProcess } from './processes.ts';
import { NetObject, sameText, throwNet, toText, type Value } from './values.ts';

type Members = Record<string, Value>;

/** Static members of a type of .NET, as far as setup.ps1 uses them. */
export function staticsOf(machine: Machine, type: string): Members {
  const make = types[type.toLowerCase()];
  if (make) return make(machine);
  throw new Error(`no type [${type}]`);
}

const enumOf = (...names: string[]): Members => Object.fromEntries(names.map((name) => [name, name]));

const types: Readonly<Record<string, (machine: Machine) => Members>> = {
  array: () => ({
    Reverse: (list: Value) => void (list as Value[]).splice(0, Infinity, ...(list as Value[]).toReversed()),
  }),
  convert: () => ({
    ToBase64String: (bytes: Value) => Buffer.from(toBytes(bytes)).toString('base64'),
    FromBase64String: (text: Value) => new Uint8Array(Buffer.from(toText(text), 'base64')),
  }),
  console: ({ isRedirected }) => ({ IsInputRedirected: isRedirected }),
  datetime: (machine) => ({ UtcNow: new NetObject('DateTime', { ToString: () => timeOf(machine) }) }),
  'diagnostics.process': (machine) => ({ Start: (start: Value) => startProcess(machine, start as NetObject) }),
  'diagnostics.stopwatch': () => ({
    StartNew: () => new NetObject('Stopwatch', { Elapsed: new NetObject('TimeSpan', { TotalSeconds: 0.25 }) }),
  }),
  environment,
  environmentvariabletarget: () => enumOf('Process', 'User'),
  'globalization.cultureinfo': () => enumOf('InvariantCulture'),
  guid: () => ({ NewGuid: () => new NetObject('Guid', { ToString: () => crypto.randomUUID().replaceAll('-', '') }) }),
  'io.directory': folders,
  'io.file': files,
  'io.fileaccess': () => enumOf('Read', 'ReadWrite'),
  'io.fileattributes': () => ({ ReadOnly: 1 }),
  'io.filemode': () => enumOf('Open', 'OpenOrCreate'),
  'io.fileoptions': () => enumOf('DeleteOnClose'),
  'io.fileshare': () => enumOf('None'),
  'io.path': paths,
  math: () => ({
    Max: (left: Value, right: Value) => Math.max(Number(left), Number(right)),
    Min: (left: Value, right: Value) => Math.min(Number(left), Number(right)),
    Round: (number: Value, digits: Value) => Number(Number(number).toFixed(Number(digits))),
  }),
  'microsoft.win32.registry': (machine) => ({
    CurrentUser: new NetObject('RegistryKey', { OpenSubKey: () => registryKey(machine) }),
  }),
  'microsoft.win32.registryvalueoptions': () => enumOf('DoNotExpandEnvironmentNames'),
  nullstring: () => ({ Value: null }),
  regex,
  'security.principal.windowsidentity': () => ({
    GetCurrent: () => new NetObject('WindowsIdentity', { User: new NetObject('Sid', { Value: 'S-1-5-21-1' }) }),
  }),
  string: () => ({
    Equals: (left: Value, right: Value, kind: Value) =>
      sameText(toText(left), toText(right), toText(kind) === 'OrdinalIgnoreCase'),
  }),
  stringcomparison: () => enumOf('Ordinal', 'OrdinalIgnoreCase'),
  'text.encoding': () => ({ UTF8: encoding('utf8'), GetEncoding: () => encoding('latin1') }),
};

const timeOf = (machine: Machine) => `20261122T0000${String(machine.seconds++).padStart(2, '0')}Z`;

function environment(machine: Machine): Members {
  const set = (name: Value, value: Value, target: Value) => {
    if (toText(target) === 'User') machine.change();
    const key = toText(name).toUpperCase();
    const isRemoved = value === null || value === '';
    if (toText(target) === 'User') {
      if (isRemoved) machine.registry.delete(key);
      else machine.registry.set(key, { value: toText(value), kind: 'String' });
    } else if (isRemoved) machine.environment.delete(key);
    else machine.environment.set(key, toText(value));
  };
  return {
    ExpandEnvironmentVariables: (text: Value) =>
      toText(text).replaceAll(
        /%(\w+)%/g,
        (whole, name: string) => machine.environment.get(name.toUpperCase()) ?? whole,
      ),
    GetEnvironmentVariable: (name: Value, target: Value) =>
      (toText(target) === 'User'
        ? machine.registry.get(toText(name).toUpperCase())?.value
        : machine.environment.get(toText(name).toUpperCase())) ?? null,
    SetEnvironmentVariable: set,
    SystemDirectory: String.raw`C:\Windows\System32`,
    UserInteractive: true,
  };
}

const at = (name: Value) => toText(name).toUpperCase();

function registryKey({ registry }: Machine): NetObject {
  return new NetObject('RegistryKey', {
    GetValue: (name: Value) => registry.get(at(name))?.value ?? null,
    GetValueNames: () => [...registry.keys()],
    GetValueKind: (name: Value) => registry.get(at(name))!.kind,
    SetValue: (name: Value, value: Value, kind: Value) =>
      void registry.set(at(name), { value: toText(value), kind: toText(kind) }),
    Close: () => {},
  } as Members);
}

const ioError = (message: string) => throwNet('IO.IOException', message);

function folders(machine: Machine): Members {
  const real = (path: Value) => machine.real(toText(path));
  const list = (path: Value, isWanted: (name: string, isFolder: boolean) => boolean) =>
    readdirSync(real(path), { withFileTypes: true })
      .filter((entry) => isWanted(entry.name, entry.isDirectory()))
      .map(({ name }) => `${toText(path)}\\${name}`)
      .toSorted();
  return {
    CreateDirectory: (path: Value) => {
      machine.change();
      mkdirSync(real(path), { recursive: true });
      return new NetObject('DirectoryInfo', {});
    },
    Delete: (path: Value, isRecursive: Value = false) => {
      machine.change();
      if (isRecursive !== true && readdirSync(real(path)).length > 0) ioError('The directory is not empty.');
      rmSync(real(path), { recursive: true });
    },
    Exists: (path: Value) => machine.kindOf(toText(path)) === 'folder',
    GetDirectories: (path: Value, pattern: Value) =>
      list(path, (name, isFolder) => isFolder && (pattern === undefined || name.endsWith(toText(pattern).slice(1)))),
    GetFiles: (path: Value) => list(path, (_, isFolder) => !isFolder),
    GetFileSystemEntries: (path: Value) => list(path, () => true),
    Move: (from: Value, to: Value) => {
      machine.change();
      if (existsSync(real(to))) ioError('Cannot create a file when that file already exists.');
      if (machine.held.has(toText(to))) ioError('Access to the path is denied.');
      renameSync(real(from), real(to));
    },
  };
}

function files(machine: Machine): Members {
  const real = (path: Value) => machine.real(toText(path));
  const mustHaveFolder = (path: Value) => {
    if (!existsSync(dirname(real(path))))
      throwNet('IO.DirectoryNotFoundException IO.IOException', 'Could not find a part of the path.');
  };
  const replace = (from: Value, to: Value) => {
    machine.change();
    if (machine.held.has(toText(to)))
      ioError('The process cannot access the file because it is used by another process.');
    renameSync(real(from), real(to));
  };
  return {
    Delete: (path: Value) => {
      machine.change();
      mustHaveFolder(path);
      if (machine.held.has(toText(path)))
        ioError('The process cannot access the file because it is used by another process.');
      if (existsSync(real(path))) unlinkSync(real(path));
    },
    Exists: (path: Value) => machine.kindOf(toText(path)) === 'file',
    GetAttributes: (path: Value) => ((statSync(real(path)).mode & 0o200) === 0 ? 1 : 0),
    GetLastWriteTimeUtc: (path: Value) => statSync(real(path)).mtimeMs,
    Move: (from: Value, to: Value) => {
      if (existsSync(real(to))) ioError('Cannot create a file when that file already exists.');
      replace(from, to);
    },
    Open: (path: Value) => memoryStream(new Uint8Array(readFileSync(real(path)))),
    ReadAllBytes: (path: Value) => new Uint8Array(readFileSync(real(path))),
    Replace: (from: Value, to: Value, backup: Value) => {
      if (backup !== null) throw new Error('Replace got a backup');
      if (!existsSync(real(to)))
        throwNet('IO.FileNotFoundException IO.IOException', 'Unable to find the specified file.');
      replace(from, to);
    },
    WriteAllBytes: (path: Value, bytes: Value) => {
      machine.change();
      mustHaveFolder(path);
      writeFileSync(real(path), toBytes(bytes));
    },
  };
}

const partOf = (name: 'basename' | 'extname') => (path: Value) => win32[name](toText(path));

function paths(machine: Machine): Members {
  return {
    Combine: (...parts: Value[]) =>
      parts.map(toText).reduce((left, right) => (win32.isAbsolute(right) ? right : win32.join(left, right))),
    GetDirectoryName: (path: Value) =>
      win32.dirname(toText(path)) === toText(path) ? null : win32.dirname(toText(path)),
    GetExtension: partOf('extname'),
    GetFileName: partOf('basename'),
    GetFullPath: (path: Value) => win32.normalize(toText(path)),
    GetTempPath: () => `${machine.environment.get('TEMP')}\\`,
    IsPathRooted: (path: Value) => win32.isAbsolute(toText(path)),
  };
}

const patternOf = (source: Value, options: Value, flags: string) =>
  toPattern(toText(source), toText(options).includes('IgnoreCase'), flags);
const matchOf = (found: RegExpMatchArray | null) =>
  new NetObject('Match', {
    Success: found !== null,
    Groups: (found ?? []).map((text) => new NetObject('Group', { Value: text })),
    Index: found?.index ?? 0,
    Length: found?.[0].length ?? 0,
    Value: found?.[0] ?? '',
  });

function regex(): Members {
  return {
    Escape: (text: Value) => toText(text).replaceAll(/[\\*+?|{[()^$.#\s]/g, (letter) => `\\${letter}`),
    Match: (text: Value, source: Value, options: Value) => matchOf(patternOf(source, options, '').exec(toText(text))),
    Matches: (text: Value, source: Value) => [...toText(text).matchAll(patternOf(source, '', 'g'))].map(matchOf),
    Replace: (text: Value, source: Value, wanted: Value) =>
      toText(text).replaceAll(patternOf(source, '', 'g'), toText(wanted)),
    Split: (text: Value, source: Value) => toText(text).split(patternOf(source, '', '')),
  };
}
