// Shared by all parts: the data of this gateway, the state of this run, and messages.
import { machine } from './machine.mjs';

/** The current action and service. `slug`, `state`, `records` and the rest of the service are set by enterService. */
export const run = {
  data: {}, // what the gateway says of itself: names, models, defaults, tools
  options: {}, // see options.mjs
  home: '',
  configHome: '',
  key: '',
  keyHint: '', // the key as messages show it
  hasFailed: false,
  time: new Date().toISOString().slice(0, 19).replace(/:/g, '-') + 'Z',
  pretended: new Map(), // contents by path, as if the changes that a dry run has shown were made
};

/** Ends the run with this exit code: 1 a failure, 2 wrong options. */
export class Stop extends Error {
  constructor(message, code = 1) {
    super(message);
    this.code = code;
  }
}

/** Exit codes by which the launcher learns that it must ask, and start the program again with the answer. */
export const askKey = 90;
export const askToWrite = 91;
export const askToContinue = 92;

export const isWindows = machine.system === 'windows';
export const isMacos = machine.system === 'macos';
export const computer = isWindows ? 'computer' : 'machine';

/** An option as the user of this system writes it: --dry-run, -DryRun. */
export function option(name) {
  return isWindows ? `-${name.replace(/(^|-)([a-z])/g, (_, dash, letter) => letter.toUpperCase())}` : `--${name}`;
}

const escapes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

export function paint(colour, text) {
  return machine.hasColours && colour ? `\x1b[${escapes[colour]}m${text}\x1b[0m` : text;
}

export function say(text = '') {
  machine.print(`${text}\n`);
}

export function warn(text) {
  machine.complain(`${paint('yellow', text)}\n`);
}

/** Without control characters: names of files and answers of servers may contain what a terminal obeys. */
export function printable(text) {
  return text.replace(/\p{Cc}/gu, '?');
}

const colours = {
  failed: 'red',
  skipped: 'yellow',
  outdated: 'yellow',
  manual: 'yellow',
  gone: 'yellow',
  cleaned: 'yellow',
  written: 'green',
  change: 'green',
  restored: 'green',
  removed: 'green',
  works: 'green',
};

const ranks = 'unchanged removed restored gone cleaned written manual skipped failed'.split(' ');

/** The most serious verdict of several; undefined for none. */
export function worstOf(all) {
  return ranks[Math.max(...all.map(({ verdict }) => ranks.indexOf(verdict)))];
}

export function printVerdict(name, verdict, details = '') {
  const text = printable(details).trimEnd();
  if (text) say(`  ${name.padEnd(21)}  ${paint(colours[verdict] ?? 'dim', verdict.padEnd(9))}  ${text}`);
  else say(verdict ? `  ${name.padEnd(21)}  ${paint(colours[verdict] ?? 'dim', verdict)}` : `  ${name}`);
}

export function findTool(id) {
  return run.data.tools.find((tool) => tool.id === id);
}

/** The name of a tool, which need not be in this script any more. */
export function nameOf(id) {
  return id === 'shell' ? 'Shell profile' : (findTool(id)?.name ?? id);
}

export function commandLine(options) {
  const { baseUrl } = run.data;
  if (isWindows) return `& ([scriptblock]::Create((irm ${baseUrl}/setup.ps1))) ${options.map(option).join(' ')}`;
  // zsh would take the brackets of an IPv6 address for a pattern.
  const url = /[[\]]/.test(baseUrl) ? `'${baseUrl}/setup.sh'` : `${baseUrl}/setup.sh`;
  const load = machine.find('curl') || !machine.find('wget') ? 'curl -fsSL' : 'wget -qO-';
  return `${load} ${url} | sh -s -- ${options.map(option).join(' ')}`;
}
