// Variables of shells: a block in the profile reads the file `env` in the folder of the service; fish reads a file of its own. The record
// `variables` has the names that each tool needs. Lines that others have added to `env` stay.

import { unlessRefused } from '../edit/common.mjs';
import { commitPlan, replaceFile } from './commit.mjs';
import { printDifference } from './difference.mjs';
import { decode, encode, machine } from './machine.mjs';
import { expandPath, join, recordPath, resolveLinks, formatPath } from './paths.mjs';
import { planFile, planRecorded } from './plan.mjs';
import { listFiles, readLines, readRecord, writeLines, writeStamp } from './records.mjs';
import { isMacos, toolName, printVerdict, run, printLine } from './run.mjs';
import { undoFile, summarizeChanges } from './undo-file.mjs';

const quote = (text) => `'${text.replace(/'/g, "'\\''")}'`;
const formatExport = ([name, value]) => `export ${name}=${quote(value)}`;
const readExportName = (line) => /^export ([A-Za-z0-9_]+)=/.exec(line)?.[1] ?? '';
const envPath = () => join(run.state, 'env');
const readEnv = () => machine.read(envPath());
const readRows = () => readLines('variables').map((line) => line.split('\t'));
const splitLines = (text) => text.split('\n').slice(0, text.endsWith('\n') ? -1 : undefined);

export const shell = {
  hasSame(_, wanted) {
    run.firstEnv = run.firstEnv ?? readEnv() ?? '';
    return wanted.every((variable) => splitLines(run.firstEnv).includes(encode(formatExport(variable))));
  },

  plan(ready) {
    const before = readRows();
    const rows = before.filter(([id]) => !ready.has(id));
    for (const [id, wanted] of ready) rows.push(...wanted.map(([name]) => [id, name]));
    const envBefore = readEnv();
    const env = updateEnv(envBefore ?? '', [...ready.values()].flat(), before, rows);
    const hasVariables = rows.length > 0;
    const plans = hasVariables ? planShells(env) : [];
    const isChanged = env !== (envBefore ?? '') || rows.join('\n') !== before.join('\n');
    return { rows, env, envBefore, hasVariables, plans, isChanged: isChanged && (hasVariables || before.length > 0) };
  },

  commit({ rows, env, envBefore, plans, isChanged }) {
    const commit = () => {
      if (!isChanged) return;
      const lines = rows.map((row) => row.join('\t'));
      writeStamp();
      replaceFile(resolveLinks(envPath()), env, 0o600, envBefore);
      writeLines('variables', lines);
    };
    return unlessRefused(
      () => {
        commit();
        return plans.filter((plan) => !commitPlan(plan));
      },
      ({ message: reason }) => [{ tool: 'shell', shown: formatPath(envPath()), verdict: 'failed', reason }],
    );
  },

  show({ hasVariables, env, envBefore }) {
    if (hasVariables && env !== envBefore) printDifference(formatPath(envPath()), envBefore, env);
  },

  owners: () => [...new Set(readRows().map(([id]) => id))],

  changed(id) {
    const present = new Set(
      splitLines(readEnv() ?? '')
        .filter((line) => /=./.test(line))
        .map(readExportName),
    );
    return readRows()
      .filter(([owner, name]) => owner === id && !present.has(name))
      .map(([, name]) => `$${name}`);
  },

  isOutdated(wanted) {
    const lines = splitLines(readEnv() ?? '');
    return !wanted.every((variable) => lines.includes(encode(formatExport(variable))));
  },

  undo(ids) {
    if (readRows().length === 0 && listFiles('shell').length === 0) return;
    const plan = this.plan(new Map(ids.map((id) => [id, []])));
    if (plan.hasVariables) return reportFailures(this.commit(plan));
    const undone = listFiles('shell').map((name) => undoFile(name));
    if (undone.some(({ verdict }) => verdict !== 'unchanged'))
      printVerdict(toolName('shell'), ...summarizeChanges(undone));
    const forget = () => {
      machine.removeFile(recordPath('variables'));
      removeEnv(plan);
      printLine('\nTerminals that are open keep the variables until you close them.');
    };
    unlessRefused(forget, ({ message: reason }) => reportFailures([{ reason }]));
  },
};

function reportFailures(failed) {
  for (const { reason } of failed) {
    run.hasFailed = true;
    printVerdict(toolName('shell'), 'failed', reason);
  }
}

function removeEnv({ env, envBefore }) {
  if (envBefore === undefined) return;
  if (splitLines(env).some((line) => !line.startsWith('#') && line !== ''))
    replaceFile(envPath(), env, 0o600, envBefore);
  else machine.removeFile(envPath());
}

function updateEnv(current, wanted, before, rows) {
  // If two tools need the same name, the newer value wins.
  const values = new Map(wanted.map((variable) => [variable[0], encode(formatExport(variable))]));
  const previousNames = new Set(before.map(([, name]) => name));
  const ownedNames = new Set(rows.map(([, name]) => name));
  const lines = splitLines(current || `# Written by ${run.data.baseUrl}/setup.sh, whose option --undo removes it.\n`);
  const replaced = new Set();
  const updated = lines.flatMap((line) => {
    const name = readExportName(line);
    if (values.has(name)) return replaced.has(name) ? [] : (replaced.add(name), [values.get(name)]);
    return name === '' || ownedNames.has(name) || !previousNames.has(name) ? [line] : [];
  });
  const added = [...values].filter(([name]) => !replaced.has(name)).map(([, line]) => line);
  return [...updated, ...added].map((line) => `${line}\n`).join('');
}

function planShells(env) {
  // Undoing some tools must not set up another shell.
  return [...(run.options.action === 'undo' ? [] : planProfiles()), ...planFish(env)];
}

function planProfiles() {
  const path = quotePath(envPath());
  const content = `if [ -r ${path} ]; then . ${path}; fi`;
  const plan = (place, places = []) => planFile('shell', { format: 'block', path: place, content }, { places });
  switch (/[^/]*$/.exec(machine.env('SHELL') ?? '')[0]) {
    case 'zsh':
      return plan('~/.zshrc', [{ variable: 'ZDOTDIR', folder: '~' }]);
    case 'bash':
      return [
        ...plan('~/.bashrc'),
        // On macOS, terminals start bash as a login shell, which reads only the first of these files, and not .bashrc. A new .bash_profile
        // would hide the user's .profile.
        ...(isMacos ? plan('~/.bash_profile|~/.bash_login|~/.profile|~/.bash_profile') : []),
      ];
    case 'fish':
      return [];
    default:
      return plan('~/.profile');
  }
}

/** Writes $HOME for the home folder. */
export function quotePath(path) {
  const inHome = path.startsWith(`${run.home}/`) ? path.slice(run.home.length + 1) : undefined;
  return inHome !== undefined && /^[A-Za-z0-9_./@%+,:-]+$/.test(inHome) ? `"$HOME/${inHome}"` : quote(path);
}

function planFish(env) {
  const isUndo = run.options.action === 'undo';
  const path = expandPath(run.fishPath);
  const fileExists = machine.stat(path) !== undefined;
  const isRecorded = listFiles('shell').some((name) => readRecord(name)?.source === run.fishPath);
  const isUsed =
    (machine.env('SHELL') ?? '').endsWith('/fish') ||
    (machine.which('fish') && machine.stat(expandPath('~/.config/fish/x').slice(0, -2)));
  if (!fileExists && !isRecorded && (isUndo || !isUsed)) return [];
  const lines = splitLines(env).filter((line) => readExportName(line) !== '');
  const content = decode(lines.map(formatFishVariable).join('\n'));
  const action = { format: 'text', path: run.fishPath, content, isSecret: true };
  const target = { places: [] };
  return isUndo && !fileExists ? planRecorded('shell', action, target) : planFile('shell', action, target);
}

function formatFishVariable(line) {
  const name = readExportName(line);
  const text = line.slice(`export ${name}='`.length, -1);
  const value = text
    .split("'\\''")
    .map((part) => part.replace(/\\/g, '\\\\'))
    .join("\\'");
  return `set -gx ${name} '${value}'`;
}
