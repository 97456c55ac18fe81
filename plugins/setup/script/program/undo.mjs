// Removes settings from the tools' files, then the variables and caches, then the records.

import { unlessRefused } from '../edit/common.mjs';
import { findBlock, withoutBlock } from './blocks.mjs';
import { replaceFile } from './commit.mjs';
import { printDifference } from './difference.mjs';
import { releaseLock } from './lock.mjs';
import { machine } from './machine.mjs';
import { describeTarget } from './models.mjs';
import { requireTerminal } from './options.mjs';
import {
  eachFormer,
  exists,
  findFile,
  reversed,
  join,
  listPaths,
  recordPath,
  resolveLinks,
  formatPath,
} from './paths.mjs';
import { requireReplaceable } from './plan.mjs';
import {
  createRecords,
  hasSetUpTools,
  listFiles,
  readRecords,
  readTools,
  removeRecords,
  saveTool,
  takeLock,
  writeStamp,
} from './records.mjs';
import { recoverRecords, removeDeadFolders } from './recovery.mjs';
import {
  askToContinue,
  computer,
  findTool,
  isWindows,
  toolName,
  printable,
  printVerdict,
  run,
  printLine,
  Stop,
  warn,
} from './run.mjs';
import { computeUndo, undoFile, summarizeChanges } from './undo-file.mjs';
import { variables } from './variables.mjs';

/** Starts with the present name: if a file has settings of several names, those were added last. */
export function undo() {
  const { hasConsent, isDryRun } = run.options;
  if (!hasConsent && !isDryRun) requireConsent();
  if (forEachName(() => undoService(run.options.tools))) {
    if (isDryRun) printLine('\nNothing was changed, because this was a dry run.');
  } else if (!forEachName(undoOrphans))
    printLine(`Nothing of ${printable(run.data.service)} is set up on this ${computer}.`);
}

function forEachName(action) {
  let hasResult = action();
  eachFormer(() => {
    hasResult = action() || hasResult;
  });
  return hasResult;
}

function requireConsent() {
  const lines = [];
  const collect = () => {
    const ids = listToUndo(run.options.tools);
    for (const id of ids)
      lines.push([
        toolName(id),
        readRecords(id)
          .map(({ path }) => formatPath(path))
          .join(', '),
      ]);
    if (ids.length === 0) lines.push(...findOrphans().map(({ real }) => [toolName('shell'), formatPath(real)]));
  };
  collect();
  eachFormer(collect);
  if (lines.length === 0) return;
  requireTerminal();
  printLine(`The settings of ${printable(run.data.service)} will be taken out of:\n`);
  for (const [name, paths] of lines) printVerdict(name, '', paths);
  printLine('');
  throw new Stop('', askToContinue);
}

/** Includes tools with only a staged record. */
export function listSetUp() {
  const files = machine.list(recordPath('files')).map((name) => name.split('.')[0]);
  const ids = [...readTools('tools').keys(), ...variables.owners(), ...files];
  return [...new Set(ids)];
}

function listToUndo(only) {
  return [...listSetUp().filter((id) => id !== 'shell'), 'shell']
    .filter((id) => only.length === 0 || only.includes(id))
    .filter((id) => id !== 'shell' || listSetUp().includes('shell'));
}

/** Returns false if there was nothing to undo. `only` has ids of tools; if it is empty, all tools are undone. */
export function undoService(only) {
  const { isDryRun } = run.options;
  if (!isDryRun) removeDeadFolders();
  const ids = listToUndo(only);
  if (ids.length === 0) {
    removeUnusedRecords(only);
    return false;
  }
  if (isDryRun) {
    ids.forEach(printUndo);
    return true;
  }
  createRecords();
  takeLock();
  recoverRecords();
  writeStamp();
  forgetMoving(only);
  printLine('');
  const undone = ids.filter((id) => id !== 'shell' && undoTool(id));
  variables.undo(undone);
  const backupFolder = removeBackups();
  removeRecords();
  releaseLock();
  if (backupFolder) printLine(`\nCopies of the files from before: ${backupFolder}`);
  return true;
}

function printUndo(id) {
  for (const name of listFiles(id)) {
    const change = computeUndo(name);
    printVerdict(toolName(id), change.verdict, change.shown + (change.reason ? `: ${change.reason}` : ''));
    if (!['restored', 'cleaned', 'removed'].includes(change.verdict)) continue;
    printDifference(change.shown, change.current, change.after);
    run.pretended.set(change.real, change.after);
  }
}

function undoTool(id) {
  // The last file comes first, because it may refer to an earlier one.
  const changes = reversed(listFiles(id)).map(undoFile);
  const pastedFiles = changes.length === 0 ? findPastedFiles(id) : [];
  if (pastedFiles.length > 0)
    printVerdict(toolName(id), 'manual', `${pastedFiles.join(', ')}: take out what you pasted there`);
  else printVerdict(toolName(id), ...summarizeChanges(changes));
  if (changes.some(({ verdict }) => verdict === 'failed')) return false;
  removeCaches(id);
  saveTool('tools', id, undefined);
  return true;
}

function removeCaches(id) {
  const actions = findTool(id)?.variants[0]?.actions ?? [];
  const places = actions.filter(({ kind }) => kind === 'place');
  for (const cache of actions.filter(({ kind }) => kind === 'cache')) {
    const remove = () => {
      const path = findFile(listPaths(cache), places);
      const isFile = machine.lstat(path)?.kind === 'file';
      if (isFile && (machine.read(path) ?? '').includes(JSON.stringify(run.data.baseUrl))) machine.removeFile(path);
    };
    unlessRefused(remove, ({ message }) =>
      warn(`${listPaths(cache)[0]} still has the address of ${printable(run.data.service)}: ${message}`),
    );
  }
}

function findPastedFiles(id) {
  const tool = findTool(id);
  if (!tool) return [];
  const { files, places } = describeTarget(tool, '');
  // They have no record but contain this gateway's address, because a person has added the settings.
  return files
    .map((action) => findFile(listPaths(action), places))
    .filter((path) => (machine.stat(path)?.kind === 'file' ? machine.read(path) : '').includes(run.data.baseUrl))
    .map(formatPath);
}

function forgetMoving(only) {
  for (const id of readTools('moving').keys())
    if (only.length === 0 || only.includes(id)) saveTool('moving', id, undefined);
}

function removeUnusedRecords(only) {
  // A run may have ended before its first file, for example on a full disk.
  if (run.options.isDryRun || !exists(run.records) || !machine.isWritable(run.records)) return;
  if (!exists(recordPath('moving')) && hasSetUpTools()) return;
  takeLock();
  forgetMoving(only);
  if (hasSetUpTools()) releaseLock();
  else removeRecords();
}

function removeBackups() {
  const folder = recordPath('backups');
  if (!exists(folder)) return '';
  if (!run.changes && hasSetUpTools()) return formatPath(folder);
  // Not every file was restored byte for byte.
  if (exists(recordPath('inexact'))) return formatPath(folder);
  machine.removeTree(folder);
  return '';
}

function findOrphans() {
  if (isWindows) return [];
  const zsh = `${machine.env('ZDOTDIR') || run.home}/.zshrc`;
  const paths = [zsh, ...['.bashrc', '.bash_profile', '.bash_login', '.profile'].map((name) => join(run.home, name))];
  return paths.flatMap((path) => {
    try {
      const real = resolveLinks(path);
      const current = machine.stat(real)?.kind === 'file' ? machine.read(real) : '';
      const block = findBlock(current);
      return block.isFound ? [{ real, current, after: withoutBlock(block) }] : [];
    } catch {
      return [];
    }
  });
}

function undoOrphans() {
  const orphans = findOrphans();
  for (const { real, current, after } of orphans) {
    if (run.options.isDryRun) {
      printDifference(formatPath(real), current, after);
      continue;
    }
    const removeBlock = () => {
      requireReplaceable(real, machine.stat(real));
      replaceFile(real, after, undefined, current);
      printVerdict(toolName('shell'), 'cleaned', formatPath(real));
    };
    unlessRefused(removeBlock, ({ message }) => {
      run.hasFailed = true;
      printVerdict(toolName('shell'), 'failed', `${formatPath(real)}: ${message}`);
    });
  }
  return orphans.length > 0;
}
