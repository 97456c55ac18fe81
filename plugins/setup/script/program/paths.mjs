// Where the files of tools are, and which file a path really names.
import { Refusal } from '../edit/common.mjs';
import { machine } from './machine.mjs';
import { isMacos, isWindows, printable, run, Stop, warn } from './run.mjs';

const slash = machine.separator;

export function folderOf(path) {
  return path.slice(0, path.lastIndexOf(slash));
}

export function baseOf(path) {
  return path.slice(path.lastIndexOf(slash) + 1);
}

export function join(...parts) {
  return parts.join(slash);
}

export function recordPath(...names) {
  return join(run.records, ...names);
}

export function exists(path) {
  return machine.lookAtLink(path) !== undefined;
}

export function firstLine(text = '') {
  return text.split(/\r?\n/)[0];
}

/** Node.js 18 has no toReversed. */
export function fromLast(list) {
  return list.map((_, index) => list[list.length - 1 - index]);
}

/** Checks the home folder, and chooses the service of this gateway. */
export function locateHome() {
  if (isWindows) {
    run.home = (machine.env('USERPROFILE') ?? '').replace(/\\+$/, '');
    run.configHome = machine.env('XDG_CONFIG_HOME')?.replace(/\//g, '\\') || `${run.home}\\.config`;
  } else {
    run.home = checkHome((machine.env('HOME') ?? '').replace(/(?<=.)\/+$/, ''));
    refuseSudo();
    // A relative path is invalid here (XDG Base Directory Specification).
    const named = machine.env('XDG_CONFIG_HOME') ?? '';
    run.configHome = /^\/./.test(named) ? named.replace(/\/$/, '') : `${run.home}/.config`;
  }
  enterService(run.data.slug);
}

function checkHome(home) {
  const advice = 'Set it to your home folder, and run this again.';
  if (home === '') throw new Stop(`HOME is not set. ${advice}`);
  if (home === '/') throw new Stop(`HOME is "/", which is not a home folder. ${advice}`);
  if (!home.startsWith('/')) throw new Stop(`HOME is "${printable(home)}", which is not an absolute path. ${advice}`);
  if (machine.look(home)?.kind !== 'folder')
    throw new Stop(
      `The home folder ${printable(home)} does not exist. Set HOME to your home folder, and run this again.`,
    );
  return home;
}

/** As root, files in the home folder of another user would belong to root afterwards. Containers do this on purpose. */
function refuseSudo() {
  if (machine.user !== 0 || machine.look(run.home).owner === 0) return;
  if (['SUDO_UID', 'DOAS_USER', 'PKEXEC_UID'].some((name) => machine.env(name)))
    throw new Stop('This runs as root in the home folder of another user. Run it again without sudo.');
  if (run.options.action === 'setup' || run.options.action === 'undo')
    warn('This runs as root in the home folder of another user: new files will belong to root.');
}

/**
 * Makes the service with this slug the one whose records, markers and files everything else means. Its folder does not move
 * with XDG_CONFIG_HOME: a run with it and one without it have to find the same records.
 */
export function enterService(slug) {
  const parent = isWindows ? (machine.env('LOCALAPPDATA') ?? '').replace(/\\+$/, '') : `${run.home}/.config`;
  run.slug = slug;
  run.state = join(parent, slug);
  run.records = join(run.state, 'setup');
  run.temporary = `.${slug}-setup`;
  run.fishPath = `~/.config/fish/conf.d/${slug}.fish`;
  run.isStamped = false;
  run.backup = '';
  run.isExact = true;
}

/** Runs an action for each former name, the latest first. */
export function eachFormer(action) {
  const { slug } = run;
  for (const former of run.data.formerSlugs) {
    enterService(former);
    action();
  }
  if (run.data.formerSlugs.length > 0) enterService(slug);
}

/** Where a file action of the table is on this system, with `~`: several paths are alternatives, the first that exists. */
export function placesOf({ path, macos, windows }) {
  if (isMacos && macos) return [macos];
  if (!isWindows) return path.split('|');
  return path
    .split('|')
    .map((one) => windows.slice(0, windows.lastIndexOf('\\') + 1) + one.slice(one.lastIndexOf('/') + 1));
}

/**
 * The absolute path of the first of these places that exists, or else of the last.
 *
 * @param places with `~`, %APPDATA% and the like
 * @param moved the variables that move folders
 * @throws Refusal where a variable moves it to a path that is not absolute
 */
export function expandFirst(places, moved) {
  let path = '';
  for (const place of places) {
    path = expand(place, moved);
    if (machine.lookAtLink(path)) break;
  }
  return path;
}

export function expand(place, moved = []) {
  let path = expandFolder(place);
  for (const { variable, folder } of moved) {
    const value = machine.env(variable);
    // Other folders belong to another system.
    if (!value || folder.startsWith('~') === folder.startsWith('%') || (!isWindows && !folder.startsWith('~')))
      continue;
    const start = expandFolder(folder) + slash;
    if (isSamePath(path.slice(0, start.length), start)) path = joinTo(value, path.slice(start.length));
  }
  if (!(isWindows ? /^[A-Za-z]:\\|^\\\\/ : /^\//).test(path))
    throw new Refusal(`its folder is not an absolute path: ${path}`);
  return path;
}

function joinTo(folder, rest) {
  return (isWindows ? folder.replace(/\//g, '\\') : folder).replace(/(?<=.)[\\/]$/, '') + slash + rest;
}

function expandFolder(place) {
  if (isWindows) {
    const path = place.replace(/\//g, '\\').replace(/^~(?=\\|$)/, '%USERPROFILE%');
    const config = '%USERPROFILE%\\.config\\';
    if (path.startsWith(config)) return joinTo(run.configHome, path.slice(config.length));
    return path.replace(/%(USERPROFILE|APPDATA|LOCALAPPDATA)%/g, (_, name) =>
      (machine.env(name) ?? '').replace(/\\+$/, ''),
    );
  }
  if (place.startsWith('~/.config/')) return `${run.configHome}/${place.slice(10)}`;
  return place.replace(/^~(?=\/|$)/, () => run.home);
}

/** Windows does not distinguish paths by case. */
export function isSamePath(one, other) {
  return isWindows ? one.toLowerCase() === other.toLowerCase() : one === other;
}

/** The file that the symbolic links at the end of the path lead to, which need not exist. */
export function resolveLinks(path) {
  let real = path;
  for (let count = 0; machine.lookAtLink(real)?.kind === 'link'; count += 1) {
    if (count === 40) throw new Refusal('its symbolic links lead in a circle');
    const target = machine.readLink(real).replace(/^\\\\\?\\/, '');
    real = /^([A-Za-z]:)?[\\/]/.test(target) ? target : join(folderOf(real), target);
  }
  return real;
}

/** A path as people write it. */
export function show(path) {
  if (isWindows) return printable(path);
  let [shown, home] = [path, run.home];
  // A relative link leads to a path such as ~/.tool/../dotfiles/x. The meaning of `..` depends on links above it.
  if (/\/\.\.?\//.test(path) && machine.look(folderOf(path)))
    [shown, home] = [join(machine.realPath(folderOf(path)), baseOf(path)), machine.realPath(home)];
  return printable(shown.startsWith(`${home}/`) ? `~${shown.slice(home.length)}` : shown);
}
