import { unlessRefused } from '../edit/common.mjs';
import { blockOf, withoutBlock } from './blocks.mjs';
import { replaceFile } from './commit.mjs';
import { showDifference } from './difference.mjs';
// Takes the settings out of the files of tools, then what they needed, then the records.
import { releaseLock } from './lock.mjs';
import { machine } from './machine.mjs';
import { wishesOf } from './models.mjs';
import { requireTerminal } from './options.mjs';
import { eachFormer, exists, expandFirst, fromLast, join, placesOf, recordPath, resolveLinks, show } from './paths.mjs';
import { refuseObstacle } from './plan.mjs';
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
import { recoverRecords, removeDeadStages } from './recovery.mjs';
import {
  askToContinue,
  computer,
  findTool,
  isWindows,
  nameOf,
  printable,
  printVerdict,
  run,
  say,
  Stop,
  warn,
} from './run.mjs';
import { computeUndo, undoFile, verdictOf } from './undo-file.mjs';
import { variables } from './variables.mjs';

/** The settings under the present name come first: where both are in a file, they are the later ones. */
export function undo() {
  const { hasConsent, isDryRun } = run.options;
  if (!hasConsent && !isDryRun) announce();
  if (underAnyName(() => undoService(run.options.tools))) {
    if (isDryRun) say('\nNothing was changed, because this was a dry run.');
  } else if (!underAnyName(undoOrphans))
    say(`Nothing of ${printable(run.data.service)} is set up on this ${computer}.`);
}

/** Runs an action under every name of the service. True when it was so under one. */
function underAnyName(action) {
  let isTrue = action();
  eachFormer(() => {
    isTrue = action() || isTrue;
  });
  return isTrue;
}

function announce() {
  const lines = [];
  const collect = () => {
    const ids = listUndone(run.options.tools);
    for (const id of ids)
      lines.push([
        nameOf(id),
        readRecords(id)
          .map(({ path }) => show(path))
          .join(', '),
      ]);
    if (ids.length === 0) lines.push(...findOrphans().map(({ real }) => [nameOf('shell'), show(real)]));
  };
  collect();
  eachFormer(collect);
  if (lines.length === 0) return;
  requireTerminal();
  say(`The settings of ${printable(run.data.service)} will be taken out of:\n`);
  for (const [name, paths] of lines) printVerdict(name, '', paths);
  say('');
  throw new Stop('', askToContinue);
}

/** The tools with any record, even one that was about to be written. */
export function listSetUp() {
  const files = machine.list(recordPath('files')).map((name) => name.split('.')[0]);
  const ids = [...readTools('tools').keys(), ...variables.owners(), ...files];
  return [...new Set(ids)];
}

function listUndone(only) {
  return [...listSetUp().filter((id) => id !== 'shell'), 'shell']
    .filter((id) => only.length === 0 || only.includes(id))
    .filter((id) => id !== 'shell' || listSetUp().includes('shell'));
}

/** Undoes what is set up under the name that enterService has chosen, as far as it is among `only`. False without any. */
export function undoService(only) {
  const { isDryRun } = run.options;
  if (!isDryRun) removeDeadStages();
  const ids = listUndone(only);
  if (ids.length === 0) {
    removeUnusedRecords(only);
    return false;
  }
  if (isDryRun) {
    ids.forEach(showUndo);
    return true;
  }
  createRecords();
  takeLock();
  recoverRecords();
  writeStamp();
  forgetMoving(only);
  say('');
  const forgotten = ids.filter((id) => id !== 'shell' && undoTool(id));
  variables.undo(forgotten);
  const kept = removeBackups();
  removeRecords();
  releaseLock();
  if (kept) say(`\nCopies of the files from before: ${kept}`);
  return true;
}

function showUndo(id) {
  for (const name of listFiles(id)) {
    const way = computeUndo(name);
    printVerdict(nameOf(id), way.verdict, way.shown + (way.reason ? `: ${way.reason}` : ''));
    if (!['restored', 'cleaned', 'removed'].includes(way.verdict)) continue;
    showDifference(way.shown, way.current, way.after);
    run.pretended.set(way.real, way.after);
  }
}

/** False when something of the tool could not be undone. The last file first: a later one may refer to an earlier one. */
function undoTool(id) {
  const ways = fromLast(listFiles(id)).map(undoFile);
  const pasted = ways.length === 0 ? listPasted(id) : [];
  if (pasted.length > 0) printVerdict(nameOf(id), 'manual', `${pasted.join(', ')}: take out what you pasted there`);
  else printVerdict(nameOf(id), ...verdictOf(ways));
  if (ways.some(({ verdict }) => verdict === 'failed')) return false;
  removeCaches(id);
  saveTool('tools', id, undefined);
  return true;
}

/** Removes what the tool has kept of this gateway's answers. Its other files are the user's. */
function removeCaches(id) {
  const actions = findTool(id)?.variants[0]?.actions ?? [];
  const places = actions.filter(({ kind }) => kind === 'place');
  for (const cache of actions.filter(({ kind }) => kind === 'cache')) {
    const remove = () => {
      const path = expandFirst(placesOf(cache), places);
      const isFile = machine.lookAtLink(path)?.kind === 'file';
      if (isFile && (machine.read(path) ?? '').includes(JSON.stringify(run.data.baseUrl))) machine.removeFile(path);
    };
    unlessRefused(remove, ({ message }) =>
      warn(`${placesOf(cache)[0]} still has the address of ${printable(run.data.service)}: ${message}`),
    );
  }
}

/** The files of a tool without records that name this gateway: a person has put the settings there. */
function listPasted(id) {
  const tool = findTool(id);
  if (!tool) return [];
  const { files, places } = wishesOf(tool, '');
  return files
    .map((action) => expandFirst(placesOf(action), places))
    .filter((path) => (machine.look(path)?.kind === 'file' ? machine.read(path) : '').includes(run.data.baseUrl))
    .map(show);
}

/** Undoing tools also undoes their interrupted move. */
function forgetMoving(only) {
  for (const id of readTools('moving').keys())
    if (only.length === 0 || only.includes(id)) saveTool('moving', id, undefined);
}

/** Removes the records of a run that ended before its first file, as on a full disk. */
function removeUnusedRecords(only) {
  if (run.options.isDryRun || !exists(run.records) || !machine.isAllowed(run.records, true)) return;
  if (!exists(recordPath('moving')) && hasSetUpTools()) return;
  takeLock();
  forgetMoving(only);
  if (hasSetUpTools()) releaseLock();
  else removeRecords();
}

/** Removes the backups once nothing is set up any more and every file came back byte for byte; else gives where they are. */
function removeBackups() {
  const folder = recordPath('backups');
  if (!exists(folder)) return '';
  if (!run.changes && hasSetUpTools()) return show(folder);
  if (exists(recordPath('inexact'))) return show(folder);
  machine.removeTree(folder);
  return '';
}

/** Marked lines in profiles whose records are lost. */
function findOrphans() {
  if (isWindows) return [];
  const zsh = `${machine.env('ZDOTDIR') || run.home}/.zshrc`;
  const paths = [zsh, ...['.bashrc', '.bash_profile', '.bash_login', '.profile'].map((name) => join(run.home, name))];
  return paths.flatMap((path) => {
    try {
      const real = resolveLinks(path);
      const current = machine.look(real)?.kind === 'file' ? machine.read(real) : '';
      const block = blockOf(current);
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
      showDifference(show(real), current, after);
      continue;
    }
    const clean = () => {
      refuseObstacle(real, machine.look(real));
      replaceFile(real, after, undefined, current);
      printVerdict(nameOf('shell'), 'cleaned', show(real));
    };
    unlessRefused(clean, ({ message }) => {
      run.hasFailed = true;
      printVerdict(nameOf('shell'), 'failed', `${show(real)}: ${message}`);
    });
  }
  return orphans.length > 0;
}
