// The machine: its files, programs and variables, by Node.js, Bun or Deno. Contents of files are texts of one character per byte.
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

/** Calls a function of the file system; a failure becomes a Refusal with the reason in words. */
function attempt(action) {
  try {
    return action();
  } catch (error) {
    throw new Refusal(reasons[error.code] ?? `it cannot be read or written (${error.code ?? error.message})`);
  }
}

/** The same, undefined where there is no such file. */
function attemptToFind(action) {
  return attempt(() => {
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

const pause = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

/** Windows locks a file while a virus scanner reads it: retries for a second. */
function patiently(action) {
  for (let count = 1; ; count += 1) {
    try {
      return action();
    } catch (error) {
      if (process.platform !== 'win32' || count === 5 || !/^(EBUSY|EPERM|EACCES|ENOTEMPTY)$/.test(error.code))
        throw error;
      pause(250);
    }
  }
}

/** A pipe may take less than it is given. */
function writeAll(file, text) {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length;) {
    try {
      start += fs.writeSync(file, bytes, start);
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(141);
      if (error.code !== 'EAGAIN') throw error;
      pause(5);
    }
  }
}

/** A pipe may give less than it will. A device, such as a terminal, may have no end. */
function readUpTo(file, limit) {
  const buffer = Buffer.alloc(limit);
  const isDevice = fs.fstatSync(file).isCharacterDevice();
  let length = 0;
  while (length < limit) {
    const count = fs.readSync(file, buffer, length, limit - length, null);
    length += count;
    if (count === 0 || isDevice) break;
  }
  return buffer.toString('latin1', 0, length);
}

const systems = { win32: 'windows', darwin: 'macos' };

function describe(entry) {
  if (entry === undefined) return undefined;
  const kind = entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : entry.isFile() ? 'file' : 'other';
  return {
    kind,
    mode: entry.mode & 0o777,
    links: entry.nlink,
    owner: entry.uid,
    group: entry.gid,
    changed: entry.mtimeMs,
  };
}

export const machine = {
  system: systems[process.env.SETUP_SYSTEM ?? process.platform] ?? 'linux',
  separator: process.platform === 'win32' ? '\\' : '/',
  pid: process.pid,
  user: process.getuid?.(),
  hasColours: process.stdout.isTTY && !process.env.NO_COLOR && (process.env.TERM ?? 'dumb') !== 'dumb',
  arguments: process.argv.slice(2),
  env: (name) => process.env[name],
  print: (text) => writeAll(1, text),
  // The launcher of Windows reads one output.
  complain: (text) => writeAll(process.platform === 'win32' ? 1 : 2, text),
  sleep: pause,
  exit: (code) => process.exit(code),

  /** The content of a file; undefined when there is none. Of a pipe at most `limit` bytes, of a terminal a line. */
  read(path, limit) {
    if (limit === undefined) return attemptToFind(() => fs.readFileSync(path, 'latin1'));
    return attemptToFind(() => {
      const file = fs.openSync(path, 'r');
      try {
        return readUpTo(file, limit);
      } finally {
        fs.closeSync(file);
      }
    });
  },
  /** Describes the target of a path, following links; undefined if it does not exist. */
  look: (path) => describe(attemptToFind(() => fs.statSync(path))),
  /** Describes the entry at a path without following links. */
  lookAtLink: (path) => describe(attemptToFind(() => fs.lstatSync(path))),
  list: (path) => attemptToFind(() => fs.readdirSync(path).sort()) ?? [],
  readLink: (path) => attempt(() => fs.readlinkSync(path)),
  realPath: (path) => attempt(() => fs.realpathSync(path)),
  isAllowed: (path, write) => succeeds(() => fs.accessSync(path, write ? fs.constants.W_OK : fs.constants.R_OK)),
  /** Creates a file that does not exist yet. `like` is a file whose owner it gets. */
  create(path, content, mode, like) {
    attempt(() => {
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
  write: (path, content) => attempt(() => fs.writeFileSync(path, content, { encoding: 'latin1', mode: 0o600 })),
  makeFolder: (path, mode = 0o777) => attempt(() => fs.mkdirSync(path, { mode })),
  rename: (from, to) => attempt(() => patiently(() => fs.renameSync(from, to))),
  removeFile: (path) => attempt(() => patiently(() => fs.rmSync(path, { force: true }))),
  removeTree: (path) => attempt(() => fs.rmSync(path, { recursive: true, force: true, maxRetries: 3 })),
  /** Does nothing to a folder with anything in it. */
  removeFolder: (path) => succeeds(() => fs.rmdirSync(path)),
  isAlive(pid) {
    try {
      process.kill(pid, 0);
      // One that has ended is there until its parent has asked for its status.
      return process.platform !== 'linux' || !/\) Z /.test(this.read(`/proc/${pid}/stat`) ?? '');
    } catch (error) {
      return error.code === 'EPERM';
    }
  },
  find(name) {
    const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat', '.ps1'] : [''];
    const folders = (process.env.PATH ?? '').split(process.platform === 'win32' ? ';' : ':').filter(Boolean);
    for (const folder of folders) {
      for (const ending of endings) {
        const path = `${folder.replace(/[\\/]$/, '')}${this.separator}${name}${ending}`;
        if (this.isProgram(path)) return path;
      }
    }
    return undefined;
  },
  isProgram: (path) =>
    succeeds(() => fs.accessSync(path, fs.constants.X_OK)) && fs.statSync(path, { throwIfNoEntry: false })?.isFile(),
  /** Runs a program to its end. `code` is -1 when it could not start, -2 when it took too long, -3 when its output was too long. */
  call(file, words, { input = '', seconds = 60, limit = 8 * 1024 * 1024, folder, env, isBun } = {}) {
    const shell = process.platform === 'win32' && /\.(cmd|bat)$/i.test(file);
    // A batch file is run by a shell, which splits words.
    const quote = (word) => (shell ? `"${word}"` : word);
    const result = childProcess.spawnSync(quote(file), words.map(quote), {
      input: Buffer.from(input, 'latin1'),
      encoding: 'latin1',
      timeout: seconds * 1000,
      maxBuffer: limit,
      windowsHide: true,
      shell,
      ...(folder && { cwd: folder }),
      // A tool that runs this program as Bun becomes the tool again.
      env: { ...process.env, ...env, ...(!isBun && { BUN_BE_BUN: undefined }) },
    });
    const codes = { ETIMEDOUT: -2, ENOBUFS: -3 };
    const code = result.error ? (codes[result.error.code] ?? -1) : (result.status ?? 1);
    return { code, output: result.stdout ?? '', errors: result.stderr ?? '' };
  },
  /** Runs this program again, with other words. */
  callItself(word, options) {
    const words = typeof Deno === 'undefined' ? [] : ['run', '--allow-all'];
    return this.call(process.execPath, [...words, process.argv[1], word], { ...options, isBun: true });
  },
};

/** The bytes of a text, and the text of bytes. */
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
