// The records in the folder of the service: what was set up, and how to take it back. Scripts of before wrote the same.
//   tools               lines ID, or ID TAB MODEL
//   moving              lines like those of `tools`, of tools that are being moved from a former name of the service: written
//                       before their former settings go, removed one by one as the new ones are there
//   variables           lines TOOL TAB NAME; on Windows a folder for each variable, see registry.mjs
//   folders             the folders that were created, one per line
//   files/TOOL.N/       one file of a tool: path; source, the path in the table; format, identity; wanted, the settings; before,
//                       the file without them; after, what was written; mode, the permissions that it had and those it got,
//                       - for none
//   files/TOOL.N.new/   such a record while its file is being replaced
//   backups/TIME/...    files as they were before a run changed them
//   stamp               differs after each run that changed something
//   inexact             there when an undo could not bring back every byte, so that backups are kept
//   lock/pid            the process of the run that is changing something
import { Refusal, unlessRefused } from '../edit/common.mjs';
import { acquireLock, releaseLock } from './lock.mjs';
import { decode, encode, machine } from './machine.mjs';
import { baseOf, exists, firstLine, folderOf, fromLast, join, recordPath, show } from './paths.mjs';
import { computer, isWindows, printable, run, Stop } from './run.mjs';

/** Lines of a file of the records. */
export function readLines(name) {
  return (machine.read(recordPath(name)) ?? '').split(/\r?\n/).filter(Boolean);
}

/** Replaces them in one step. Without lines, the file goes. */
export function writeLines(name, lines) {
  const path = recordPath(name);
  if (lines.length === 0) return machine.removeFile(path);
  machine.removeFile(`${path}.new`);
  machine.create(`${path}.new`, lines.map((line) => `${line}\n`).join(''), 0o600);
  return machine.rename(`${path}.new`, path);
}

/** The tools in the table `tools` or `moving`, with the models that were named, or ''. */
export function readTools(name) {
  return new Map(readLines(name).map((line) => [line.split(/[\t ]/)[0], line.split(/[\t ]/)[1] ?? '']));
}

/** Puts a tool into the table as its last row; without a model, undefined, takes it out. */
export function saveTool(name, id, model) {
  const tools = readTools(name);
  if (model === undefined ? !tools.has(id) : tools.get(id) === model) return;
  tools.delete(id);
  if (model !== undefined) tools.set(id, model);
  writeLines(
    name,
    [...tools].map(([one, named]) => (named ? `${one}\t${named}` : one)),
  );
}

/** A path without line breaks. Names on Windows have none. */
export function encodeLine(path) {
  return encode(isWindows ? path : path.replace(/%/g, '%25').replace(/\n/g, '%0A'));
}

export function decodeLine(line) {
  const path = decode(line);
  return isWindows ? path : path.replace(/%0A/g, '\n').replace(/%25/g, '%');
}

const numberOf = (name) => Number(name.slice(name.lastIndexOf('.') + 1));

/** The names of the records of files, of one tool or all, in the order of their numbers. */
export function listFiles(id) {
  return machine
    .list(recordPath('files'))
    .filter((name) => /\.\d+$/.test(name) && (id === undefined || name.startsWith(`${id}.`)))
    .sort((one, other) => numberOf(one) - numberOf(other));
}

/** A record of a file; undefined when it is incomplete. */
export function readRecord(name) {
  const part = (one) => machine.read(recordPath('files', name, one));
  const parts = 'path format identity wanted after mode before'.split(' ');
  const [path, format, identity, wanted, after, mode, before] = parts.map(part);
  if ([path, format, identity, wanted, after].includes(undefined) || firstLine(path) === '') return undefined;
  const [oldMode, newMode = '-'] = mode === undefined ? [] : firstLine(mode).split(' ');
  // setup.ps1 of before wrote no permissions.
  if (oldMode === undefined && part('complete') === undefined) return undefined;
  if (oldMode !== undefined && oldMode !== '-' && before === undefined) return undefined;
  return {
    name,
    path: decodeLine(firstLine(path)),
    source: decode(firstLine(part('source'))),
    format: firstLine(format),
    identity: firstLine(identity),
    modes: [oldMode ?? '-', newMode],
    wanted,
    before,
    after,
  };
}

/** The complete records of a tool, or of all. */
export const readRecords = (id) => listFiles(id).map(readRecord).filter(Boolean);

/** Writes the record next to the present one: if the run is interrupted, one of the two describes the file. */
export function stageRecord(name, record) {
  const folder = recordPath('files', `${name}.new`);
  try {
    machine.removeTree(folder);
    machine.makeFolder(folder, 0o700);
    const lines = {
      path: encodeLine(record.path),
      source: encode(record.source),
      format: record.format,
      identity: encode(record.identity),
      mode: record.modes.join(' '),
    };
    for (const [part, text] of Object.entries(lines)) machine.write(join(folder, part), `${text}\n`);
    for (const part of ['wanted', 'after', 'before'])
      if (record[part] !== undefined) machine.write(join(folder, part), record[part]);
  } catch (error) {
    dropStaged(name);
    throw new Refusal(`${error.message} (in the folder ${run.records})`);
  }
}

export function dropStaged(name) {
  machine.removeTree(recordPath('files', `${name}.new`));
}

export function settleRecord(name) {
  removeRecord(name);
  machine.rename(recordPath('files', `${name}.new`), recordPath('files', name));
}

export function removeRecord(name) {
  machine.removeTree(recordPath('files', name));
}

export function freeName(tool) {
  let number = 1;
  while (exists(recordPath('files', `${tool}.${number}`)) || exists(recordPath('files', `${tool}.${number}.new`)))
    number += 1;
  return `${tool}.${number}`;
}

/**
 * Refuses to edit a file that another gateway was set up in since. To edit it below its settings would mix both, up to the
 * address of one gateway with the key of another. Blocks do not mix.
 */
export function refuseCovered(record) {
  if (record.format === 'block') return;
  const own = machine.look(recordPath('files', record.name, 'after'))?.changed ?? 0;
  const parent = folderOf(run.state);
  for (const slug of machine.list(parent)) {
    const files = join(parent, slug, 'setup', 'files');
    if (slug === baseOf(run.state) || !machine.look(files)) continue;
    for (const name of machine.list(files)) {
      const path = firstLine(machine.read(join(files, name, 'path')));
      if (path === '' || path !== encodeLine(record.path)) continue;
      const changed = machine.look(join(files, name, 'after'))?.changed ?? 0;
      if (changed > own) throw new Refusal(`"${printable(slug)}" was set up in it later; take that out first`);
    }
  }
}

/** Creates the folder of the records. Those above it that did not exist are on record before anything else happens. */
export function createRecords() {
  unlessRefused(
    () => {
      createState();
      makeFolders(recordPath('files'));
    },
    ({ message }) => {
      throw new Stop(`The folder ${show(run.records)} cannot be created: ${message}. Nothing was changed.`);
    },
  );
  if (machine.isAllowed(run.records, true) && machine.isAllowed(recordPath('files'), true)) return;
  throw new Stop(`The folder ${show(run.records)} is not writable. Nothing was changed.`);
}

/** Created next to its place and renamed with its uppermost new folder, so that a killed run leaves no folder off record. */
function createState() {
  const missing = missingFolders(run.records);
  if (missing.length === 0) return;
  const [top] = missing;
  const stage = join(folderOf(top), `${run.temporary}.${machine.pid}`);
  run.stage = stage;
  for (const folder of missing) machine.makeFolder(stage + folder.slice(top.length), modeFor(folder));
  machine.write(
    join(stage + run.records.slice(top.length), 'folders'),
    missing.map((folder) => `${encodeLine(folder)}\n`).join(''),
  );
  if (isWindows) protect(stage);
  if (exists(top)) {
    // Another run has made it meanwhile.
    machine.removeTree(stage);
    return createState();
  }
  machine.rename(stage, top);
}

/** Folders of this script are for its user alone; those of tools have the permissions that the user chose. */
function modeFor(folder) {
  return `${folder}${machine.separator}`.startsWith(run.state + machine.separator) ? 0o700 : 0o777;
}

/** Allows only this user, and the system for its backups. A file system without permissions stays as it is. */
export function protect(path) {
  if (!isWindows) return;
  const inherit = machine.look(path)?.kind === 'folder' ? '(OI)(CI)' : '';
  const tool = join(machine.env('SystemRoot') ?? 'C:\\Windows', 'System32', 'icacls.exe');
  const user = `${machine.env('USERDOMAIN') ?? '.'}\\${machine.env('USERNAME') ?? ''}`;
  machine.call(tool, [path, '/inheritance:r', '/grant:r', `${user}:${inherit}F`, `*S-1-5-18:${inherit}F`, '/q']);
}

function missingFolders(path) {
  const missing = [];
  for (let folder = path; folder !== '' && !machine.look(folder); folder = folderOf(folder)) missing.unshift(folder);
  return missing;
}

/** Creates a folder and those above it. New ones are on record before they exist. */
export function makeFolders(path) {
  const missing = missingFolders(path);
  if (missing.length === 0) return;
  writeLines('folders', [...readLines('folders'), ...missing.map(encodeLine)]);
  for (const folder of missing) {
    // Another run or a tool may have created it meanwhile.
    if (machine.look(folder)?.kind !== 'folder') machine.makeFolder(folder, modeFor(folder));
  }
}

/** Ends the run while another one is changing something, and on a full disk. */
export function takeLock() {
  unlessRefused(acquireLock, () => refuseFullDisk(join(run.lock, 'pid')));
}

/** Ends the run because a file of the records cannot be written. */
export function refuseFullDisk(path) {
  removeRecords();
  throw new Stop(
    `The file ${show(path)} cannot be written. Free some space on the disk of this ${computer}, and run this again. Nothing was changed.`,
  );
}

export function readStamp() {
  return firstLine(machine.read(recordPath('stamp')));
}

/** To be called before the first change of a run. */
export function writeStamp() {
  if (run.isStamped) return;
  run.isStamped = true;
  machine.write(recordPath('stamp'), `${run.time} ${machine.pid}\n`);
}

export function hasSetUpTools() {
  if (['tools', 'moving'].some((name) => readLines(name).length > 0)) return true;
  const variables = isWindows ? machine.list(recordPath('variables')) : readLines('variables');
  return (
    variables.length > 0 ||
    machine.list(recordPath('files')).some((name) => machine.look(recordPath('files', name))?.kind === 'folder')
  );
}

/** Removes the records when nothing is set up, and the folders that this script created and that are empty. */
export function removeRecords() {
  const folders = readLines('folders').map(decodeLine);
  if (!hasSetUpTools()) {
    for (const name of ['tools', 'moving', 'stamp', 'folders', ...(isWindows ? [] : ['variables'])])
      machine.removeFile(recordPath(name));
    for (const name of machine.list(run.records).filter((one) => one.endsWith('.new')))
      machine.removeFile(recordPath(name));
    releaseLock();
    machine.removeFolder(recordPath('files'));
    machine.removeFolder(recordPath('variables'));
    if (!exists(recordPath('backups'))) {
      machine.removeFile(recordPath('inexact'));
      machine.removeFolder(run.records);
    }
  }
  for (const folder of fromLast(folders)) machine.removeFolder(folder);
  if (exists(run.records)) {
    const left = folders.filter((folder) => machine.look(folder)).map(encodeLine);
    if (left.join('\n') !== readLines('folders').join('\n')) writeLines('folders', left);
  } else if (isWindows) machine.removeFolder(run.state);
}

/** Copies a file as it was read, before it is changed. */
export function backUp(path, content) {
  if (content === undefined) return;
  try {
    if (!run.backup) {
      run.backup = recordPath('backups', run.time);
      for (let number = 2; exists(run.backup); number += 1) run.backup = recordPath('backups', `${run.time}-${number}`);
    }
    const copy = backupOf(path);
    makePrivateFolders(folderOf(copy));
    machine.write(copy, content);
  } catch (error) {
    throw new Refusal(`it cannot be backed up: ${error.message}`);
  }
}

function backupOf(path) {
  return isWindows ? join(run.backup, path.replace(/:/g, '')) : run.backup + path;
}

/** Removes the copy of a file that was not changed after all. */
export function dropBackup(path) {
  if (!run.backup) return;
  const copy = backupOf(path);
  machine.removeFile(copy);
  for (let folder = folderOf(copy); folder.length > run.records.length; folder = folderOf(folder))
    machine.removeFolder(folder);
  if (!exists(run.backup)) run.backup = '';
}

function makePrivateFolders(path) {
  // Behind a `..`, a folder may be there by now.
  for (const folder of missingFolders(path)) if (!machine.look(folder)) machine.makeFolder(folder, 0o700);
}
