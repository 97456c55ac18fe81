/**
 * The editing helper of the setup script: puts settings into the configuration file of a tool, and takes them out again.
 *
 *   node edit.mjs apply|remove|check json|toml|yaml WORK [--identity a,b;c,d] [--at start]
 *
 * All files are in the folder WORK. Reads `current` (the file now), `wanted` (the settings), `previous` (the settings of
 * the last run) and `before` (the file without them, as of the last run). `apply` and `remove` write `after`, what the
 * file shall be, and `apply` writes `before`. An absent file stands for a file that does not exist.
 *
 * Prints names of settings only, never values. Exit status: 0; 2 where a file cannot be edited safely; 1 for other errors.
 */
import { existsSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'fs';
import { join } from 'path';
import { Refusal } from './common.mjs';

/**
 * @typedef {object} Options
 * @property {string[]} [identity] members that identify an entry of a list
 * @property {string[]} [initial] after the semicolon of `--identity`: members of a YAML file that stay where the file has them
 * @property {string} [at] `start`: new entries go to the start of their list
 * @property {boolean} [replaces] `remove` takes changed entries of lists out as well: they are about to be replaced
 * @property {string} [keep] settings that are put in next: `remove` may leave their values, so that they keep their places
 * @typedef {{ text: string, left: string[] }} Removal the file without the settings, and the names of those left alone
 * @typedef {object} Format
 * @property {(current: string, wanted: string, options: Options) => string} merge
 * @property {(current: string, wanted: string, before: string | undefined, options: Options) => Removal} remove
 * @property {(current: string, wanted: string, options: Options) => string[]} missing
 */

const MAX_BYTES = 1024 * 1024;
const USAGE = 'Usage: edit apply|remove|check json|toml|yaml FOLDER [--identity a,b;c,d] [--at start]';

/** @param {string[]} words */
async function main(words) {
  const request = parseArguments(words);
  if (!request) return finish(1, [], USAGE);
  /** @type {Format} */
  const format = await import(`./${request.format}.mjs`);
  const names = commands[request.command](format, new Folder(request.folder), request.options);
  return finish(0, names);
}

/** What each command does; the result is the names to print. */
const commands = {
  /** @type {(format: Format, folder: Folder, options: Options) => string[]} */
  apply(format, folder, options) {
    const current = folder.read('current');
    const wanted = folder.mustRead('wanted');
    const previous = folder.read('previous');
    // A changed entry of ours would else count as the user's own from now on, with the key in it.
    const clean = withoutPrevious(format, folder, { ...options, replaces: true }, current, previous);
    const added = withoutInitial(wanted, clean.text || '', options);
    const isSame = current !== undefined && previous === wanted && format.merge(current, added, options) === current;
    // Entries at the start of a list stand in the order of the settings, and so none may keep its place.
    const keeping = options.at === 'start' ? options : { ...options, keep: wanted };
    const base = withoutPrevious(format, folder, keeping, current, previous).text;
    const after = isSame && current !== undefined ? current : format.merge(base || '', added, options);
    if (format.missing(after, added, options).length > 0) throw new Refusal('The settings cannot be merged safely.');
    folder.write('after', after);
    folder.write('before', clean.text);
    const all = format.missing('', wanted, options);
    return clean.left.filter((name) => !all.some((other) => other === name || other.startsWith(`${name}.`)));
  },

  /** @type {(format: Format, folder: Folder, options: Options) => string[]} */
  remove(format, folder, options) {
    const clean = withoutPrevious(format, folder, options, folder.read('current'), folder.mustRead('previous'));
    folder.write('after', clean.text);
    return clean.left.filter((name) => !(options.initial || []).includes(name));
  },

  /** @type {(format: Format, folder: Folder, options: Options) => string[]} */
  check(format, folder, options) {
    const current = folder.read('current') || '';
    return format.missing(current, withoutInitial(folder.mustRead('wanted'), current, options), options);
  },
};

/**
 * The settings without the initial members that the file has already. They are lines that begin with `name:`.
 *
 * @param {string} wanted
 * @param {string} text
 * @param {Options} options
 */
function withoutInitial(wanted, text, { initial = [] }) {
  const present = initial.filter((name) => new RegExp(`(^|\\n)\\uFEFF?(["']?)${name}\\2[ \\t]*:`).test(text));
  return wanted
    .split('\n')
    .filter((line) => !present.some((name) => line.startsWith(`${name}:`)))
    .join('\n');
}

/**
 * The file without the settings of the last run; no text where the file then would not exist.
 *
 * @param {Format} format
 * @param {Folder} folder
 * @param {Options} options
 * @param {string | undefined} current
 * @param {string | undefined} previous
 * @returns {{ text: string | undefined, left: string[] }}
 */
function withoutPrevious(format, folder, options, current, previous) {
  if (current === undefined || previous === undefined) return { text: current, left: [] };
  const before = folder.read('before');
  const { text, left } = format.remove(current, previous, before, options);
  format.missing(text, previous, options); // Refuses what cannot be parsed.
  return { text: text === '' && before === undefined ? undefined : text, left };
}

/** The files of the folder WORK, as strict UTF-8. */
class Folder {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
  }

  /** @param {string} name @returns {string | undefined} */
  read(name) {
    let bytes;
    try {
      if (statSync(join(this.path, name)).size > MAX_BYTES) throw new Refusal('The file is larger than 1 MB.');
      bytes = readFileSync(join(this.path, name));
    } catch (error) {
      if (error && /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return undefined;
      throw error;
    }
    const text = bytes.toString('utf8');
    if (!Buffer.from(text, 'utf8').equals(bytes)) throw new Refusal('The file is not valid UTF-8.');
    if (text.includes('\0')) throw new Refusal('The file contains a NUL character.');
    return text;
  }

  /** @param {string} name */
  mustRead(name) {
    const text = this.read(name);
    if (text === undefined) throw new Error(name);
    return text;
  }

  /** @param {string} name @param {string | undefined} text without one the file is deleted */
  write(name, text) {
    const path = join(this.path, name);
    if (text !== undefined) writeFileSync(path, text);
    else if (existsSync(path)) unlinkSync(path);
  }
}

/**
 * @param {string[]} words
 * @returns {{ command: keyof typeof commands, format: string, folder: string, options: Options } | undefined}
 */
function parseArguments([command = '', format = '', folder = '', ...rest]) {
  /** @type {Options} */
  const options = {};
  while (rest.length > 0) {
    const [option, value] = rest.splice(0, 2);
    if (value === undefined) return undefined;
    if (option === '--identity') [options.identity = [], options.initial = []] = value.split(';').map(asList);
    else if (option === '--at' && /^(start|end|-)$/.test(value)) options.at = value;
    else return undefined;
  }
  if (command !== 'apply' && command !== 'remove' && command !== 'check') return undefined;
  return /^(json|toml|yaml)$/.test(format) && folder !== '' ? { command, format, folder, options } : undefined;
}

/** @param {string} value */
function asList(value) {
  return value === '-' ? [] : value.split(',');
}

/**
 * Names and messages are one line each: a name may contain what a terminal would obey.
 *
 * @param {number} status
 * @param {string[]} names
 * @param {string} [message]
 */
function finish(status, names, message) {
  process.stdout.write(names.map(asLine).join(''));
  if (message !== undefined) process.stderr.write(asLine(message));
  process.exitCode = status;
}

/** @param {string} text */
function asLine(text) {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, '?') + '\n';
}

main(process.argv.slice(2)).catch((error) => {
  if (error instanceof Refusal) finish(2, [], error.message);
  else finish(1, [], 'The files of the editing helper cannot be read or written.');
});
