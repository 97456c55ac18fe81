import { unlessRefused } from '../edit/common.mjs';
// Variables of shells: one file, `env` in the folder of the service, which a block in the profile reads; fish reads its own. The record
// `variables` says which tools need which names. Lines of other people in `env` stay.
import { commitPlan, replaceFile } from './commit.mjs';
import { showDifference } from './difference.mjs';
import { decode, encode, machine } from './machine.mjs';
import { expand, join, recordPath, resolveLinks, show } from './paths.mjs';
import { planFile, planMoved } from './plan.mjs';
import { listFiles, readLines, readRecord, writeLines, writeStamp } from './records.mjs';
import { isMacos, nameOf, printVerdict, run, say } from './run.mjs';
import { undoFile, verdictOf } from './undo-file.mjs';

const quote = (text) => `'${text.replace(/'/g, "'\\''")}'`;
const lineOf = ([name, value]) => `export ${name}=${quote(value)}`;
const nameIn = (line) => /^export ([A-Za-z0-9_]+)=/.exec(line)?.[1] ?? '';
const envPath = () => join(run.state, 'env');
const readEnv = () => machine.read(envPath());
const readRows = () => readLines('variables').map((line) => line.split('\t'));
const split = (text) => text.split('\n').slice(0, text.endsWith('\n') ? -1 : undefined);

export const shell = {
  hasSame(_, wanted) {
    run.firstEnv = run.firstEnv ?? readEnv() ?? '';
    return wanted.every((one) => split(run.firstEnv).includes(encode(lineOf(one))));
  },

  plan(ready) {
    const before = readRows();
    const rows = before.filter(([id]) => !ready.has(id));
    for (const [id, wanted] of ready) rows.push(...wanted.map(([name]) => [id, name]));
    const envBefore = readEnv();
    const env = writeEnv(envBefore ?? '', [...ready.values()].flat(), before, rows);
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
      ({ message: reason }) => [{ tool: 'shell', shown: show(envPath()), verdict: 'failed', reason }],
    );
  },

  show({ hasVariables, env, envBefore }) {
    if (hasVariables && env !== envBefore) showDifference(show(envPath()), envBefore, env);
  },

  owners: () => [...new Set(readRows().map(([id]) => id))],

  changed(id) {
    const present = new Set(
      split(readEnv() ?? '')
        .filter((line) => /=./.test(line))
        .map(nameIn),
    );
    return readRows()
      .filter(([owner, name]) => owner === id && !present.has(name))
      .map(([, name]) => `$${name}`);
  },

  isOutdated(wanted) {
    const lines = split(readEnv() ?? '');
    return !wanted.every((one) => lines.includes(encode(lineOf(one))));
  },

  undo(ids) {
    if (readRows().length === 0 && listFiles('shell').length === 0) return;
    const plan = this.plan(new Map(ids.map((id) => [id, []])));
    if (plan.hasVariables) return report(this.commit(plan));
    const undone = listFiles('shell').map((name) => undoFile(name));
    if (undone.some(({ verdict }) => verdict !== 'unchanged')) printVerdict(nameOf('shell'), ...verdictOf(undone));
    const forget = () => {
      machine.removeFile(recordPath('variables'));
      removeEnv(plan);
      say('\nTerminals that are open keep the variables until you close them.');
    };
    unlessRefused(forget, ({ message: reason }) => report([{ reason }]));
  },
};

function report(failed) {
  for (const { reason } of failed) {
    run.hasFailed = true;
    printVerdict(nameOf('shell'), 'failed', reason);
  }
}

/** Removes `env` unless others have written into it. */
function removeEnv({ env, envBefore }) {
  if (envBefore === undefined) return;
  if (split(env).some((line) => !line.startsWith('#') && line !== '')) replaceFile(envPath(), env, 0o600, envBefore);
  else machine.removeFile(envPath());
}

/** A name of two tools has one value, the newer one. */
function writeEnv(current, wanted, before, rows) {
  const values = new Map(wanted.map((one) => [one[0], encode(lineOf(one))]));
  const wasOwned = new Set(before.map(([, name]) => name));
  const isOwned = new Set(rows.map(([, name]) => name));
  const lines = split(current || `# Written by ${run.data.baseUrl}/setup.sh, whose option --undo removes it.\n`);
  const done = new Set();
  const kept = lines.flatMap((line) => {
    const name = nameIn(line);
    if (values.has(name)) return done.has(name) ? [] : (done.add(name), [values.get(name)]);
    return name === '' || isOwned.has(name) || !wasOwned.has(name) ? [line] : [];
  });
  const added = [...values].filter(([name]) => !done.has(name)).map(([, line]) => line);
  return [...kept, ...added].map((line) => `${line}\n`).join('');
}

/** Plans the profile of the user's shell, and fish. Undoing some tools must not set up a shell that was not set up before. */
function planShells(env) {
  return [...(run.options.action === 'undo' ? [] : planProfiles()), ...planFish(env)];
}

/**
 * The terminals of macOS start bash as a login shell, which reads the first of three files instead of .bashrc: a new
 * .bash_profile would hide the .profile of the user.
 */
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
        ...(isMacos ? plan('~/.bash_profile|~/.bash_login|~/.profile|~/.bash_profile') : []),
      ];
    case 'fish':
      return [];
    default:
      return plan('~/.profile');
  }
}

/** A path as a word of the shell, with $HOME for the home folder. */
export function quotePath(path) {
  const inHome = path.startsWith(`${run.home}/`) ? path.slice(run.home.length + 1) : undefined;
  return inHome !== undefined && /^[A-Za-z0-9_./@%+,:-]+$/.test(inHome) ? `"$HOME/${inHome}"` : quote(path);
}

/** fish does not read what other shells read. It is set up if it is the user's shell, is used too, or was set up before. */
function planFish(env) {
  const isUndo = run.options.action === 'undo';
  const path = expand(run.fishPath);
  const isHere = machine.look(path) !== undefined;
  const hasMoved = listFiles('shell').some((name) => readRecord(name)?.source === run.fishPath);
  const isUsed =
    (machine.env('SHELL') ?? '').endsWith('/fish') ||
    (machine.find('fish') && machine.look(expand('~/.config/fish/x').slice(0, -2)));
  if (!isHere && !hasMoved && (isUndo || !isUsed)) return [];
  const lines = split(env).filter((line) => nameIn(line) !== '');
  const content = decode(lines.map(toFish).join('\n'));
  const action = { format: 'text', path: run.fishPath, content, isSecret: true };
  const wishes = { places: [] };
  return isUndo && !isHere ? planMoved('shell', action, wishes) : planFile('shell', action, wishes);
}

function toFish(line) {
  const name = nameIn(line);
  const text = line.slice(`export ${name}='`.length, -1);
  const value = text
    .split("'\\''")
    .map((part) => part.replace(/\\/g, '\\\\'))
    .join("\\'");
  return `set -gx ${name} '${value}'`;
}
