import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NetObject, type Value } from './values.ts';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** What ends a script whose process is killed: its `finally` blocks find a machine that changes nothing any more. */
export class Killed extends Error {}

export interface SavedVariables {
  readonly environment: readonly (readonly [string, string])[];
  readonly registry: readonly (readonly [string, { value: string; kind: string }])[];
}

/** A computer with Windows, as far as setup.ps1 sees one: its drive C: is a folder here. */
export class Machine {
  readonly environment = new Map<string, string>();
  /** Variables of the user, in the registry. */
  readonly registry = new Map<string, { value: string; kind: string }>();
  readonly programs = new Map<string, readonly string[]>();
  readonly globals = new Map<string, Value>();
  readonly statics = new Map<string, Value>();
  /** What is typed at questions. */
  readonly answers: string[] = [];
  readonly lines: string[] = [];
  /** Files and folders that another program keeps open. */
  readonly held = new Set<string>();
  readonly protected: string[] = [];
  /** How often files, folders and variables were changed, and the change before which the script is killed. */
  changes = 0;
  lastChange = Infinity;
  readonly host = new NetObject('Host', {});
  hostName = 'ConsoleHost';
  isRedirected = true;
  seconds = 0;

  /** What the gateway was asked. */
  readonly asked: Asked[] = [];
  readonly root: string;
  /** What the gateway answers, by path; `*` for others. */
  readonly replies: Readonly<Record<string, Answer>>;

  constructor(root: string, replies: Readonly<Record<string, Answer>>) {
    this.root = root;
    this.replies = replies;
    const home = String.raw`C:\Users\me`;
    for (const [name, path] of [
      ['USERPROFILE', home],
      ['APPDATA', String.raw`${home}\AppData\Roaming`],
      ['LOCALAPPDATA', String.raw`${home}\AppData\Local`],
      ['TEMP', String.raw`${home}\AppData\Local\Temp`],
    ] as const) {
      this.environment.set(name, path);
      mkdirSync(this.real(path), { recursive: true });
    }
  }

  /** Replaces the variables of session and user. */
  restore({ environment, registry }: SavedVariables): void {
    for (const [current, saved] of [
      [this.environment, environment],
      [this.registry, registry],
    ] as const) {
      current.clear();
      for (const [name, value] of saved) (current as Map<string, unknown>).set(name, value);
    }
  }

  /** To be called before each change. */
  change(): void {
    if (this.changes >= this.lastChange) throw new Killed('the script was killed');
    this.changes++;
  }

  print(line: string): void {
    this.lines.push(line);
  }

  /** The path here of one of Windows. */
  real(path: string): string {
    if (!/^[A-Z]:\\/i.test(path)) throw new Error(`not an absolute path of Windows: ${path}`);
    return join(this.root, ...path.slice(3).split('\\'));
  }

  toWindows(path: string): string {
    return `C:${path.slice(this.root.length).replaceAll('/', '\\')}`;
  }

  kindOf(path: string): 'file' | 'folder' | undefined {
    if (!/^[A-Z]:\\/i.test(path) || !existsSync(this.real(path))) return undefined;
    return statSync(this.real(path)).isDirectory() ? 'folder' : 'file';
  }

  /** What Get-Item gives. */
  describe(path: string): NetObject | undefined {
    const real = this.real(path);
    const status = lstatSync(real, { throwIfNoEntry: false });
    if (!status) return undefined;
    if (status.isSymbolicLink()) {
      return new NetObject('FileInfo', { LinkType: 'SymbolicLink', Target: [this.toWindows(readlinkSync(real))] });
    }
    return new NetObject('FileInfo', {
      LinkType: status.isFile() && status.nlink > 1 ? 'HardLink' : null,
      Target: null,
    });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(this.real(path)), { recursive: true });
    writeFileSync(this.real(path), text);
  }

  read(path: string): string | undefined {
    return existsSync(this.real(path)) ? readFileSync(this.real(path), 'utf8') : undefined;
  }
}
