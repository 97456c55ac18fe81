// Access to the machine's files, programs and variables through Node.js, Bun or Deno. File contents are strings with one character per
// byte.

import { Buffer } from 'node:buffer';
import * as childProcess from 'node:child_process';
import * as fs from 'node:fs';
import process from 'node:process';
import { Refusal } from '../edit/common.mjs';

const reasons = {
  EACCES: 'Permission denied',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
  ENOSPC: 'No space left on device',
  EDQUOT: 'Disk quota exceeded',
  EBUSY: 'another program has it open',
  ENOTDIR: 'Not a directory',
  EEXIST: 'File exists',
  ENAMETOOLONG: 'File name too long',
};

function withRefusals(action) {
  try {
    return action();
  } catch (error) {
    throw new Refusal(reasons[error.code] ?? `it cannot be read or written (${error.code ?? error.message})`);
  }
}

function unlessMissing(action) {
  return withRefusals(() => {
    try {
      return action();
    } catch (error) {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    }
  });
}

function succeeds(action) {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

const sleep = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

function retryLocked(action) {
  for (let count = 1; ; count += 1) {
    try {
      return action();
    } catch (error) {
      // Retries for a second, because Windows locks a file while a virus scanner reads it.
      if (process.platform !== 'win32' || count === 5 || !/^(EBUSY|EPERM|EACCES|ENOTEMPTY)$/.test(error.code))
        throw error;
      sleep(250);
    }
  }
}

function writeAll(file, text) {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length;) {
    try {
      // A pipe may accept only a part at a time.
      start += fs.writeSync(file, bytes, start);
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(141);
      if (error.code !== 'EAGAIN') throw error;
      sleep(5);
    }
  }
}

function readLimited(file, limit) {
  const buffer = Buffer.alloc(limit);
  const isDevice = fs.fstatSync(file).isCharacterDevice();
  let length = 0;
  while (length < limit) {
    // A pipe may return only a part at a time. A device, such as a terminal, may have no end.
    const count = fs.readSync(file, buffer, length, limit - length, null);
    length += count;
    if (count === 0 || isDevice) break;
  }
  return buffer.toString('latin1', 0, length);
}

const systemsByPlatform = { win32: 'windows', darwin: 'macos' };

function describeEntry(entry) {
  if (entry === undefined) return undefined;
  return {
    kind: kindOf(entry),
    mode: entry.mode & 0o777,
    links: entry.nlink,
    owner: entry.uid,
    group: entry.gid,
    changed: entry.mtimeMs,
  };
}

function kindOf(entry) {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : 'other';
}

export const machine = {
  system: systemsByPlatform[process.env.SETUP_SYSTEM ?? process.platform] ?? 'linux',
  separator: process.platform === 'win32' ? '\\' : '/',
  pid: process.pid,
  user: process.getuid?.(),
  hasColours: process.stdout.isTTY && !process.env.NO_COLOR && (process.env.TERM ?? 'dumb') !== 'dumb',
  arguments: process.argv.slice(2),
  env: (name) => process.env[name],
  print: (text) => writeAll(1, text),
  // The Windows launcher reads only the standard output.
  printError: (text) => writeAll(process.platform === 'win32' ? 1 : 2, text),
  sleep,
  exit: (code) => process.exit(code),

  /** With a limit, reads at most that many bytes of a pipe or terminal. */
  read(path, limit) {
    if (limit === undefined) return unlessMissing(() => fs.readFileSync(path, 'latin1'));
    return unlessMissing(() => {
      const file = fs.openSync(path, 'r');
      try {
        return readLimited(file, limit);
      } finally {
        fs.closeSync(file);
      }
    });
  },
  /** Follows links; undefined if the target does not exist. */
  stat: (path) => describeEntry(unlessMissing(() => fs.statSync(path))),
  lstat: (path) => describeEntry(unlessMissing(() => fs.lstatSync(path))),
  list: (path) => unlessMissing(() => fs.readdirSync(path).sort()) ?? [],
  readLink: (path) => withRefusals(() => fs.readlinkSync(path)),
  realPath: (path) => withRefusals(() => fs.realpathSync(path)),
  isReadable: (path) => succeeds(() => fs.accessSync(path, fs.constants.R_OK)),
  isWritable: (path) => succeeds(() => fs.accessSync(path, fs.constants.W_OK)),
  /** Creates a file that must not exist yet, with the owner of the entry `like`. */
  create(path, content, mode, like) {
    withRefusals(() => {
      const file = fs.openSync(path, 'wx', mode ?? 0o666);
      try {
        fs.writeFileSync(file, content, 'latin1');
        if (like !== undefined && process.getuid?.() === 0) fs.fchownSync(file, like.owner, like.group);
        if (mode !== undefined) fs.fchmodSync(file, mode);
      } finally {
        fs.closeSync(file);
      }
    });
  },
  write: (path, content) => withRefusals(() => fs.writeFileSync(path, content, { encoding: 'latin1', mode: 0o600 })),
  makeFolder: (path, mode = 0o777) => withRefusals(() => fs.mkdirSync(path, { mode })),
  rename: (from, to) => withRefusals(() => retryLocked(() => fs.renameSync(from, to))),
  removeFile: (path) => withRefusals(() => retryLocked(() => fs.rmSync(path, { force: true }))),
  removeTree: (path) => withRefusals(() => fs.rmSync(path, { recursive: true, force: true, maxRetries: 3 })),
  /** Keeps a folder that is not empty. */
  removeFolder: (path) => succeeds(() => fs.rmdirSync(path)),
  isAlive(pid) {
    try {
      process.kill(pid, 0);
      // A zombie exists until its parent has read its exit status.
      return process.platform !== 'linux' || !/\) Z /.test(this.read(`/proc/${pid}/stat`) ?? '');
    } catch (error) {
      return error.code === 'EPERM';
    }
  },
  which(name) {
    const extensions = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', '.ps1'] : [''];
    const folders = (process.env.PATH ?? '').split(process.platform === 'win32' ? ';' : ':').filter(Boolean);
    for (const folder of folders) {
      for (const ending of extensions) {
        const path = `${folder.replace(/[\\/]$/, '')}${this.separator}${name}${ending}`;
        if (this.isProgram(path)) return path;
      }
    }
    return undefined;
  },
  isProgram: (path) =>
    succeeds(() => fs.accessSync(path, fs.constants.X_OK)) && fs.statSync(path, { throwIfNoEntry: false })?.isFile(),
  /** Runs a program to its end. `code` is -1 if it could not be started, -2 after a timeout, -3 if its output was too long. */
  spawn(file, programArguments, { input = '', seconds = 60, limit = 8 * 1024 * 1024, folder, env, isBun } = {}) {
    const shell = process.platform === 'win32' && /\.(cmd|bat)$/i.test(file);
    // Batch files need a shell, which splits words.
    const quote = (word) => (shell ? `"${word}"` : word);
    const result = childProcess.spawnSync(quote(file), programArguments.map(quote), {
      input: Buffer.from(input, 'latin1'),
      encoding: 'latin1',
      timeout: seconds * 1000,
      maxBuffer: limit,
      windowsHide: true,
      shell,
      ...(folder && { cwd: folder }),
      // If a tool runs this program as Bun, its child processes must be the tool again, not Bun.
      env: { ...process.env, ...env, ...(!isBun && { BUN_BE_BUN: undefined }) },
    });
    const codes = { ETIMEDOUT: -2, ENOBUFS: -3 };
    const code = result.error ? (codes[result.error.code] ?? -1) : (result.status ?? 1);
    return { code, output: result.stdout ?? '', errors: result.stderr ?? '' };
  },
  spawnItself(word, options) {
    const words = typeof Deno === 'undefined' ? [] : ['run', '--allow-all'];
    return this.spawn(process.execPath, [...words, process.argv[1], word], { ...options, isBun: true });
  },
};

/** Returns UTF-8 with one character per byte. */
export function encode(text) {
  return unescape(encodeURIComponent(text));
}

/** @throws Refusal for bytes that are not valid UTF-8 */
export function decode(bytes) {
  try {
    return decodeURIComponent(escape(bytes));
  } catch {
    throw new Refusal('The file is not valid UTF-8.');
  }
}
