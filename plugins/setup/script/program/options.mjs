// The options of the command line.

import { machine } from './machine.mjs';
import { computer, findTool, isWindows, formatOption, printable, run, printLine, Stop } from './run.mjs';

const actions = new Set(['undo', 'verify', 'list']);

export function readOptions(words) {
  words.forEach(refuseKey);
  const options = { action: 'setup', tools: [], model: '', keyFile: '', hasConsent: false, isDryRun: false };
  const remaining = [...words];
  while (remaining.length > 0) {
    const word = remaining.shift();
    const [, name = '', inline] = /^--?([a-z-]+)(?:=([^]*))?$/.exec(word) ?? [];
    if (['tools', 'model', 'key-file'].includes(name)) {
      const value = inline ?? remaining.shift();
      if (!value) refuse(`${formatOption(name)} needs a value.`);
      setValue(options, name, value);
    } else if (inline !== undefined) refuseUnknown(word);
    else if (actions.has(name)) chooseAction(options, name);
    else if (name === 'yes' || word === '-y') options.hasConsent = true;
    else if (name === 'dry-run') options.isDryRun = true;
    else if (name === 'help' || word === '-h') options.action = 'help';
    else refuseUnknown(word);
  }
  return options;
}

function refuseUnknown(word) {
  refuse(`Unknown option "${printable(word)}".`);
}

function refuse(message) {
  throw new Stop(`${message} Run with ${formatOption('help')} for the options.`, 2);
}

function refuseKey(word) {
  // Rejects the argument before any message repeats it.
  if (!/^--?key(=|$)/i.test(word) && !new RegExp(`${run.data.keyPrefix}[-_][A-Za-z0-9]{40}`).test(word)) return;
  const advice = `Set ${run.data.keyVariable}, or pass ${formatOption('key-file')} FILE.`;
  refuse(`Other users of this ${computer} can read the arguments of a program. ${advice}`);
}

function setValue(options, name, value) {
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
    const rows = run.data.tools.map((tool) => [tool.id, tool.name]);
    if (!findTool(name)) refuse(describeUnknown('Unknown tool', name, '', rows));
    if (!options.tools.includes(name)) options.tools.push(name);
  }
  if (options.tools.length === 0) refuse(`${formatOption('tools')} needs the name of a tool.`);
}

function describeUnknown(what, name, verdict, rows) {
  const similar = findSimilar(name, rows);
  const suggestion = similar ? `Did you mean ${similar}? ` : '';
  return `${what} "${printable(name)}"${verdict}. ${suggestion}Choose from: ${rows.map(([label]) => label).join(', ')}.`;
}

function chooseAction(options, name) {
  if (options.action === 'help') return;
  if (options.action !== 'setup' && options.action !== name)
    refuse(`${formatOption(options.action)} and ${formatOption(name)} cannot be used together.`);
  options.action = name;
}

export function findModel(name) {
  return run.data.models.find((model) => model.name === name);
}

export function checkModel(options) {
  const { model } = options;
  const { keyPrefix, models } = run.data;
  if (!model || findModel(model)) return;
  // Requests may omit the prefix, too.
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
  printLine(
    `Sets up developer tools on this ${computer} for ${printable(service)} (${baseUrl}).\n\n${usage.join('\n')}\n`,
  );
  for (const [name, value, text] of rows)
    printLine(`  ${(formatOption(name) + value).padEnd(15)}  ${text.replace('--tools', formatOption('tools'))}`);
  printLine('\nSettings are merged into existing files, which are backed up first.');
  printLine('Exit status: 0 done, 1 something failed, 2 wrong options, 130 interrupted.');
}

export function requireTerminal() {
  if (machine.env('SETUP_TERMINAL') === 'yes') return;
  throw new Stop(`No terminal is available to ask for confirmation. Pass ${formatOption('yes')} to go on without it.`);
}

function findSimilar(name, rows) {
  const text = name.toLowerCase().slice(0, 100);
  const maxDistance = Math.min(Math.max(2, Math.floor(text.length / 3)), text.length - 1);
  // A name with few different letters ranks before one that contains the text.
  let bestDistance = maxDistance + 2;
  let similar;
  for (const row of rows) {
    for (const label of row) {
      let distance = levenshteinDistance(text, label.toLowerCase());
      if (distance > maxDistance)
        distance = text.length > 2 && label.toLowerCase().includes(text) ? maxDistance + 1 : maxDistance + 2;
      if (distance < bestDistance) [bestDistance, similar] = [distance, row[0]];
    }
  }
  return similar;
}

function levenshteinDistance(a, b) {
  const row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    let above = row[0];
    row[0] = i;
    for (let j = 1; j <= b.length; j += 1) {
      const next = Math.min(row[j] + 1, row[j - 1] + 1, above + (a[i - 1] === b[j - 1] ? 0 : 1));
      above = row[j];
      row[j] = next;
    }
  }
  return row[b.length];
}
