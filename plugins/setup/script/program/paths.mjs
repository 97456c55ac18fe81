// Paths of the tools' files and of the records.

import { Refusal } from '../edit/common.mjs';
import { machine } from './machine.mjs';
import { isMacos, isWindows, printable, run, Stop, warn } from './run.mjs';

const separator = machine.separator;

export function folderOf(path) {
  return path.slice(0, path.lastIndexOf(separator));
}

export function baseName(path) {
  return path.slice(path.lastIndexOf(separator) + 1);
}

export function join(...parts) {
  return parts.join(separator);
}

export function recordPath(...names) {
  return join(run.records, ...names);
}

export function exists(path) {
  return machine.lstat(path) !== undefined;
}

export function firstLine(text = '') {
  return text.split(/\r?\n/)[0];
}

/** Node.js 18 has no toReversed. */
export function reversed(list) {
  return list.map((_, index) => list[list.length - 1 - index]);
}

export function locateHome() {
  if (isWindows) {
    run.home = (machine.env('USERPROFILE') ?? '').replace(/\\+$/, '');
    run.configHome = machine.env('XDG_CONFIG_HOME')?.replace(/\//g, '\\') || `${run.home}\\.config`;
  } else {
    run.home = checkHome((machine.env('HOME') ?? '').replace(/(?<=.)\/+$/, ''));
    refuseSudo();
    // A relative path is invalid here (XDG Base Directory Specification).
    const configured = machine.env('XDG_CONFIG_HOME') ?? '';
    run.configHome = /^\/./.test(configured) ? configured.replace(/\/$/, '') : `${run.home}/.config`;
  }
  enterService(run.data.slug);
}

function checkHome(home) {
  const advice = 'Set it to your home folder, and run this again.';
  if (home === '') throw new Stop(`HOME is not set. ${advice}`);
  if (home === '/') throw new Stop(`HOME is "/", which is not a home folder. ${advice}`);
  if (!home.startsWith('/')) throw new Stop(`HOME is "${printable(home)}", which is not an absolute path. ${advice}`);
  if (machine.stat(home)?.kind !== 'folder')
    throw new Stop(
      `The home folder ${printable(home)} does not exist. Set HOME to your home folder, and run this again.`,
    );
  return home;
}

function refuseSudo() {
  // Files that root writes in another user's home folder belong to root. Containers do this on purpose.
  if (machine.user !== 0 || machine.stat(run.home).owner === 0) return;
  if (['SUDO_UID', 'DOAS_USER', 'PKEXEC_UID'].some((name) => machine.env(name)))
    throw new Stop('This runs as root in the home folder of another user. Run it again without sudo.');
  if (run.options.action === 'setup' || run.options.action === 'undo')
    warn('This runs as root in the home folder of another user: new files will belong to root.');
}

/** The folder of a service does not depend on XDG_CONFIG_HOME, because runs with and without this variable must find the same records. */
export function enterService(slug) {
  const parent = isWindows ? (machine.env('LOCALAPPDATA') ?? '').replace(/\\+$/, '') : `${run.home}/.config`;
  run.slug = slug;
  run.state = join(parent, slug);
  run.records = join(run.state, 'setup');
  run.temporary = `.${slug}-setup`;
  run.fishPath = `~/.config/fish/conf.d/${slug}.fish`;
  run.isStamped = false;
  run.backup = '';
}

/** The latest name comes first. */
export function eachFormer(action) {
  const { slug } = run;
  for (const former of run.data.formerSlugs) {
    enterService(former);
    action();
  }
  if (run.data.formerSlugs.length > 0) enterService(slug);
}

/** The paths contain `~`. They are alternatives: the first existing one counts. */
export function listPaths({ path, macos, windows }) {
  if (isMacos && macos) return [macos];
  if (!isWindows) return path.split('|');
  return path
    .split('|')
    .map((file) => windows.slice(0, windows.lastIndexOf('\\') + 1) + file.slice(file.lastIndexOf('/') + 1));
}

/**
 * Returns the path of the first file that exists, or of the last if none does. Throws a Refusal if a variable moves the file to a path that
 * is not absolute.
 */
export function findFile(paths, movedFolders) {
  let path = '';
  for (const place of paths) {
    path = expandPath(place, movedFolders);
    if (machine.lstat(path)) break;
  }
  return path;
}

export function expandPath(place, movedFolders = []) {
  let path = expandFolder(place);
  for (const { variable, folder } of movedFolders) {
    const value = machine.env(variable);
    // Skips folders that are written for another system.
    if (!value || folder.startsWith('~') === folder.startsWith('%') || (!isWindows && !folder.startsWith('~')))
      continue;
    const start = expandFolder(folder) + separator;
    if (isSamePath(path.slice(0, start.length), start)) path = joinBelow(value, path.slice(start.length));
  }
  if (!(isWindows ? /^[A-Za-z]:\\|^\\\\/ : /^\//).test(path))
    throw new Refusal(`its folder is not an absolute path: ${path}`);
  return path;
}

function joinBelow(folder, rest) {
  return (isWindows ? folder.replace(/\//g, '\\') : folder).replace(/(?<=.)[\\/]$/, '') + separator + rest;
}

function expandFolder(place) {
  if (isWindows) {
    const path = place.replace(/\//g, '\\').replace(/^~(?=\\|$)/, '%USERPROFILE%');
    const config = '%USERPROFILE%\\.config\\';
    if (path.startsWith(config)) return joinBelow(run.configHome, path.slice(config.length));
    return path.replace(/%(USERPROFILE|APPDATA|LOCALAPPDATA)%/g, (_, name) =>
      (machine.env(name) ?? '').replace(/\\+$/, ''),
    );
  }
  if (place.startsWith('~/.config/')) return `${run.configHome}/${place.slice(10)}`;
  return place.replace(/^~(?=\/|$)/, () => run.home);
}

export function isSamePath(a, b) {
  // Windows paths are case-insensitive.
  return isWindows ? a.toLowerCase() === b.toLowerCase() : a === b;
}

/** The file itself need not exist. */
export function resolveLinks(path) {
  let real = path;
  for (let count = 0; machine.lstat(real)?.kind === 'link'; count += 1) {
    if (count === 40) throw new Refusal('its symbolic links lead in a circle');
    const target = machine.readLink(real).replace(/^\\\\\?\\/, '');
    real = /^([A-Za-z]:)?[\\/]/.test(target) ? target : join(folderOf(real), target);
  }
  return real;
}

export function formatPath(path) {
  if (isWindows) return printable(path);
  let [shown, home] = [path, run.home];
  // A relative link leads to a path such as ~/.tool/../dotfiles/x, in which `..` depends on the links above it.
  if (/\/\.\.?\//.test(path) && machine.stat(folderOf(path)))
    [shown, home] = [join(machine.realPath(folderOf(path)), baseName(path)), machine.realPath(home)];
  return printable(shown.startsWith(`${home}/`) ? `~${shown.slice(home.length)}` : shown);
}
