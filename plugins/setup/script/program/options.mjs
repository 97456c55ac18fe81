// The options of the command line.
import { machine } from './machine.mjs';
import { computer, findTool, isWindows, option, printable, run, say, Stop } from './run.mjs';

const actions = new Set(['undo', 'verify', 'list']);

/**
 * @returns what is to be done: action (setup, undo, verify, list, help), tools, model, keyFile, hasConsent, isDryRun
 */
export function readOptions(words) {
  words.forEach(refuseKey);
  const options = { action: 'setup', tools: [], model: '', keyFile: '', hasConsent: false, isDryRun: false };
  const rest = [...words];
  while (rest.length > 0) {
    const word = rest.shift();
    const [, name = '', inline] = /^--?([a-z-]+)(?:=([^]*))?$/.exec(word) ?? [];
    if (['tools', 'model', 'key-file'].includes(name)) {
      const value = inline ?? rest.shift();
      if (!value) refuse(`${option(name)} needs a value.`);
      takeValue(options, name, value);
    } else if (inline !== undefined) unknown(word);
    else if (actions.has(name)) chooseAction(options, name);
    else if (name === 'yes' || word === '-y') options.hasConsent = true;
    else if (name === 'dry-run') options.isDryRun = true;
    else if (name === 'help' || word === '-h') options.action = 'help';
    else unknown(word);
  }
  return options;
}

function unknown(word) {
  refuse(`Unknown option "${printable(word)}".`);
}

function refuse(message) {
  throw new Stop(`${message} Run with ${option('help')} for the options.`, 2);
}

/** Messages that repeat an argument would show a key that is in it. */
function refuseKey(word) {
  if (!/^--?key(=|$)/i.test(word) && !new RegExp(`${run.data.keyPrefix}[-_][A-Za-z0-9]{40}`).test(word)) return;
  const how = `Set ${run.data.keyVariable}, or pass ${option('key-file')} FILE.`;
  refuse(`Other users of this ${computer} can read the arguments of a program. ${how}`);
}

function takeValue(options, name, value) {
  if (name === 'key-file') options.keyFile = value;
  else if (name === 'model') options.model = value;
  else readToolNames(options, value);
}

function readToolNames(options, list) {
  const names = list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  for (const name of names) {
    const known = run.data.tools.map((tool) => [tool.id, tool.name]);
    if (!findTool(name)) refuse(describeUnknown('Unknown tool', name, '', known));
    if (!options.tools.includes(name)) options.tools.push(name);
  }
  if (options.tools.length === 0) refuse(`${option('tools')} needs the name of a tool.`);
}

function describeUnknown(what, name, verdict, rows) {
  const similar = findSimilar(name, rows);
  const suggestion = similar ? `Did you mean ${similar}? ` : '';
  return `${what} "${printable(name)}"${verdict}. ${suggestion}Choose from: ${rows.map(([one]) => one).join(', ')}.`;
}

function chooseAction(options, name) {
  if (options.action === 'help') return;
  if (options.action !== 'setup' && options.action !== name)
    refuse(`${option(options.action)} and ${option(name)} cannot be used together.`);
  options.action = name;
}

export function findModel(name) {
  return run.data.models.find((model) => model.name === name);
}

/** Completes the name of the model, which may lack the prefix as in requests. */
export function checkModel(options) {
  const { model } = options;
  const { keyPrefix, models } = run.data;
  if (!model || findModel(model)) return;
  options.model = `${keyPrefix}/${model}`;
  if (findModel(options.model)) return;
  const rows = models.map(({ name }) => [
    name,
    name.startsWith(`${keyPrefix}/`) ? name.slice(keyPrefix.length + 1) : name,
  ]);
  throw new Stop(describeUnknown('Model', model, ' not found', rows), 2);
}

export function printHelp() {
  const { service, baseUrl, keyVariable } = run.data;
  const url = `${baseUrl}/setup.${isWindows ? 'ps1' : 'sh'}`;
  const usage = isWindows
    ? [`Usage: irm ${url} | iex`, `   or: & ([scriptblock]::Create((irm ${url}))) [OPTIONS]`]
    : [`Usage: curl -fsSL ${url} | sh -s -- [OPTIONS]`, '   or: sh setup.sh [OPTIONS]'];
  const rows = [
    ['tools', ' a,b', `these tools; else those found on this ${computer} and those set up before`],
    ['model', ' NAME', 'this model; else the one that suits each tool'],
    [
      'key-file',
      ' FILE',
      `read the API key from a file; else from ${isWindows ? '' : '$'}${keyVariable}, or it is asked for`,
    ],
    ['yes', '', 'do not ask for confirmation'],
    ['dry-run', '', 'show what would change, and change nothing'],
    ['list', '', 'list the tools, and which of them were found or set up'],
    ['verify', '', 'test the tools that are set up with one real request each'],
    ['undo', '', 'take the settings out again, of all tools or of those of --tools'],
    ['help', '', 'show this text'],
  ];
  say(`Sets up developer tools on this ${computer} for ${printable(service)} (${baseUrl}).\n\n${usage.join('\n')}\n`);
  for (const [name, value, text] of rows)
    say(`  ${(option(name) + value).padEnd(15)}  ${text.replace('--tools', option('tools'))}`);
  say('\nSettings are merged into existing files, which are backed up first.');
  say('Exit status: 0 done, 1 something failed, 2 wrong options, 130 interrupted.');
}

export function requireTerminal() {
  if (machine.env('SETUP_TERMINAL') === 'yes') return;
  throw new Stop(`No terminal is available to ask for confirmation. Pass ${option('yes')} to go on without it.`);
}

/**
 * The first name of the most similar row; undefined where none is similar. A name with few other letters precedes one that
 * contains the wanted text.
 */
function findSimilar(wanted, rows) {
  const text = wanted.toLowerCase().slice(0, 100);
  const bound = Math.min(Math.max(2, Math.floor(text.length / 3)), text.length - 1);
  let nearest = bound + 2;
  let similar;
  for (const row of rows) {
    for (const name of row) {
      let far = distance(text, name.toLowerCase());
      if (far > bound) far = text.length > 2 && name.toLowerCase().includes(text) ? bound + 1 : bound + 2;
      if (far < nearest) [nearest, similar] = [far, row[0]];
    }
  }
  return similar;
}

/** The Levenshtein distance. */
function distance(one, other) {
  const row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    let above = row[0];
    row[0] = i;
    for (let j = 1; j <= other.length; j += 1) {
      const next = Math.min(row[j] + 1, row[j - 1] + 1, above + (one[i - 1] === other[j - 1] ? 0 : 1));
      above = row[j];
      row[j] = next;
    }
  }
  return row[other.length];
}
