// The gateway's data, the state of this run, and messages.

import { machine } from './machine.mjs';

/** The current run. enterService adds slug, folders and other members of the service. */
export const run = {
  data: {}, // names, models, defaults and tools of the gateway
  options: {}, // see options.mjs
  home: '',
  configHome: '',
  key: '',
  keyHint: '', // the key as shown in messages
  hasFailed: false,
  time: new Date().toISOString().slice(0, 19).replace(/:/g, '-') + 'Z',
  pretended: new Map(), // contents by path, after the changes that a dry run has printed
};

/** @param code 1 for a failure, 2 for wrong options */
export class Stop extends Error {
  constructor(message, code = 1) {
    super(message);
    this.code = code;
  }
}

/** On these exit codes, the launcher asks the user and starts the program again with the answer. */
export const askKey = 90;
export const askToWrite = 91;
export const askToContinue = 92;

export const isWindows = machine.system === 'windows';
export const isMacos = machine.system === 'macos';
export const computer = isWindows ? 'computer' : 'machine';

/** Returns an option in the notation of this system: --dry-run or -DryRun. */
export function formatOption(name) {
  return isWindows ? `-${name.replace(/(^|-)([a-z])/g, (_, dash, letter) => letter.toUpperCase())}` : `--${name}`;
}

const colourCodes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

export function paint(colour, text) {
  return machine.hasColours && colour ? `\x1b[${colourCodes[colour]}m${text}\x1b[0m` : text;
}

export function printLine(text = '') {
  machine.print(`${text}\n`);
}

export function warn(text) {
  machine.printError(`${paint('yellow', text)}\n`);
}

/** File names and responses could contain commands for the terminal. */
export function printable(text) {
  return text.replace(/\p{Cc}/gu, '?');
}

const verdictColours = {
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

const verdictRanks = 'unchanged removed restored gone cleaned written manual skipped failed'.split(' ');

export function findWorstVerdict(results) {
  return verdictRanks[Math.max(...results.map(({ verdict }) => verdictRanks.indexOf(verdict)))];
}

export function printVerdict(name, verdict, details = '') {
  const text = printable(details).trimEnd();
  if (text) printLine(`  ${name.padEnd(21)}  ${paint(verdictColours[verdict] ?? 'dim', verdict.padEnd(9))}  ${text}`);
  else printLine(verdict ? `  ${name.padEnd(21)}  ${paint(verdictColours[verdict] ?? 'dim', verdict)}` : `  ${name}`);
}

export function findTool(id) {
  return run.data.tools.find((tool) => tool.id === id);
}

export function toolName(id) {
  return id === 'shell' ? 'Shell profile' : (findTool(id)?.name ?? id);
}

export function formatSetupCommand(options) {
  const { baseUrl } = run.data;
  if (isWindows) return `& ([scriptblock]::Create((irm ${baseUrl}/setup.ps1))) ${options.map(formatOption).join(' ')}`;
  // zsh would treat the brackets of an IPv6 address as a pattern.
  const url = /[[\]]/.test(baseUrl) ? `'${baseUrl}/setup.sh'` : `${baseUrl}/setup.sh`;
  const download = machine.which('curl') || !machine.which('wget') ? 'curl -fsSL' : 'wget -qO-';
  return `${download} ${url} | sh -s -- ${options.map(formatOption).join(' ')}`;
}
