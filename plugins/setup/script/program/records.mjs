// The records in the folder of the service: what was set up, and how to undo it. They are the same as those of earlier scripts.
//   tools               lines ID, or ID TAB MODEL
//   moving              such lines for tools that are being moved from a former name of the service: written before their
//                       former settings are removed, and removed one by one as the new ones are written
//   variables           lines TOOL TAB NAME; on Windows a folder for each variable, see registry.mjs
//   folders             the folders that were created, one per line
//   files/TOOL.N/       one file of a tool: path; source, the path in the table; format, identity; wanted, the settings; before,
//                       the file without them; after, the written file; mode, its old and new permissions, or - for none
//   files/TOOL.N.new/   such a record while its file is being replaced
//   backups/TIME/...    files as they were before a run changed them
//   stamp               differs after each run that changed something
//   inexact             exists if an undo could not restore every byte, so that backups are kept
//   lock/pid            the process of the run that is changing something

import { Refusal, unlessRefused } from '../edit/common.mjs';
import { acquireLock, releaseLock } from './lock.mjs';
import { decode, encode, machine } from './machine.mjs';
import { baseName, exists, firstLine, folderOf, reversed, join, recordPath, formatPath } from './paths.mjs';
import { computer, isWindows, printable, run, Stop } from './run.mjs';

export function readLines(name) {
  return (machine.read(recordPath(name)) ?? '').split(/\r?\n/).filter(Boolean);
}

/** Replaces the file atomically. */
export function writeLines(name, lines) {
  const path = recordPath(name);
  if (lines.length === 0) return machine.removeFile(path);
  machine.removeFile(`${path}.new`);
  machine.create(`${path}.new`, lines.map((line) => `${line}\n`).join(''), 0o600);
  return machine.rename(`${path}.new`, path);
}

/** Returns the chosen model, or '', by the tool's id. */
export function readTools(name) {
  return new Map(readLines(name).map((line) => [line.split(/[\t ]/)[0], line.split(/[\t ]/)[1] ?? '']));
}

/** Makes a tool the last row of the table, or removes it if the model is undefined. */
export function saveTool(name, id, model) {
  const tools = readTools(name);
  if (model === undefined ? !tools.has(id) : tools.get(id) === model) return;
  tools.delete(id);
  if (model !== undefined) tools.set(id, model);
  writeLines(
    name,
    [...tools].map(([tool, chosenModel]) => (chosenModel ? `${tool}\t${chosenModel}` : tool)),
  );
}

/** Names on Windows cannot contain line breaks. */
export function encodeLine(path) {
  return encode(isWindows ? path : path.replace(/%/g, '%25').replace(/\n/g, '%0A'));
}

export function decodeLine(line) {
  const path = decode(line);
  return isWindows ? path : path.replace(/%0A/g, '\n').replace(/%25/g, '%');
}

const recordNumber = (name) => Number(name.slice(name.lastIndexOf('.') + 1));

export function listFiles(id) {
  return machine
    .list(recordPath('files'))
    .filter((name) => /\.\d+$/.test(name) && (id === undefined || name.startsWith(`${id}.`)))
    .sort((a, b) => recordNumber(a) - recordNumber(b));
}

export function readRecord(name) {
  const readPart = (part) => machine.read(recordPath('files', name, part));
  const parts = 'path format identity wanted after mode before'.split(' ');
  const [path, format, identity, wanted, after, mode, before] = parts.map(readPart);
  if ([path, format, identity, wanted, after].includes(undefined) || firstLine(path) === '') return undefined;
  const [oldMode, newMode = '-'] = mode === undefined ? [] : firstLine(mode).split(' ');
  // Earlier versions of setup.ps1 did not write permissions.
  if (oldMode === undefined && readPart('complete') === undefined) return undefined;
  if (oldMode !== undefined && oldMode !== '-' && before === undefined) return undefined;
  return {
    name,
    path: decodeLine(firstLine(path)),
    source: decode(firstLine(readPart('source'))),
    format: firstLine(format),
    identity: firstLine(identity),
    modes: [oldMode ?? '-', newMode],
    wanted,
    before,
    after,
  };
}

export const readRecords = (id) => listFiles(id).map(readRecord).filter(Boolean);

/** If the run is interrupted, the present record or the staged one describes the file. */
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

export function findFreeName(tool) {
  let number = 1;
  while (exists(recordPath('files', `${tool}.${number}`)) || exists(recordPath('files', `${tool}.${number}.new`)))
    number += 1;
  return `${tool}.${number}`;
}

/**
 * Refuses to edit a file in which another gateway was set up later. Editing its settings from below could combine the address of one
 * gateway with the key of the other. Blocks do not depend on each other.
 */
export function refuseIfOverwritten(record) {
  if (record.format === 'block') return;
  const recordedAt = machine.stat(recordPath('files', record.name, 'after'))?.changed ?? 0;
  const parent = folderOf(run.state);
  for (const slug of machine.list(parent)) {
    const files = join(parent, slug, 'setup', 'files');
    if (slug === baseName(run.state) || !machine.stat(files)) continue;
    for (const name of machine.list(files)) {
      const path = firstLine(machine.read(join(files, name, 'path')));
      if (path === '' || path !== encodeLine(record.path)) continue;
      const changed = machine.stat(join(files, name, 'after'))?.changed ?? 0;
      if (changed > recordedAt) throw new Refusal(`"${printable(slug)}" was set up in it later; take that out first`);
    }
  }
}

/** First records which parents of the folder did not exist. */
export function createRecords() {
  unlessRefused(
    () => {
      createState();
      makeFolders(recordPath('files'));
    },
    ({ message }) => {
      throw new Stop(`The folder ${formatPath(run.records)} cannot be created: ${message}. Nothing was changed.`);
    },
  );
  if (machine.isWritable(run.records) && machine.isWritable(recordPath('files'))) return;
  throw new Stop(`The folder ${formatPath(run.records)} is not writable. Nothing was changed.`);
}

function createState() {
  const missing = missingFolders(run.records);
  if (missing.length === 0) return;
  // The folder is renamed last, so that a killed run leaves no folder unrecorded.
  const [top] = missing;
  const stage = join(folderOf(top), `${run.temporary}.${machine.pid}`);
  for (const folder of missing) machine.makeFolder(stage + folder.slice(top.length), chooseFolderMode(folder));
  machine.write(
    join(stage + run.records.slice(top.length), 'folders'),
    missing.map((folder) => `${encodeLine(folder)}\n`).join(''),
  );
  if (isWindows) restrictAccess(stage);
  if (exists(top)) {
    // Another run has created it in the meantime.
    machine.removeTree(stage);
    return createState();
  }
  machine.rename(stage, top);
}

function chooseFolderMode(folder) {
  // Only the user can read the script's own folders. Folders of tools get the user's default permissions.
  return `${folder}${machine.separator}`.startsWith(run.state + machine.separator) ? 0o700 : 0o777;
}

/** Also grants access to the system, for backups. Does nothing on file systems without permissions. */
export function restrictAccess(path) {
  if (!isWindows) return;
  const inherit = machine.stat(path)?.kind === 'folder' ? '(OI)(CI)' : '';
  const tool = join(machine.env('SystemRoot') ?? 'C:\\Windows', 'System32', 'icacls.exe');
  const user = `${machine.env('USERDOMAIN') ?? '.'}\\${machine.env('USERNAME') ?? ''}`;
  machine.spawn(tool, [path, '/inheritance:r', '/grant:r', `${user}:${inherit}F`, `*S-1-5-18:${inherit}F`, '/q']);
}

function missingFolders(path) {
  const missing = [];
  for (let folder = path; folder !== '' && !machine.stat(folder); folder = folderOf(folder)) missing.unshift(folder);
  return missing;
}

/** Records the parents before it creates them. */
export function makeFolders(path) {
  const missing = missingFolders(path);
  if (missing.length === 0) return;
  writeLines('folders', [...readLines('folders'), ...missing.map(encodeLine)]);
  for (const folder of missing) {
    // Another run or a tool may have created it in the meantime.
    if (machine.stat(folder)?.kind !== 'folder') machine.makeFolder(folder, chooseFolderMode(folder));
  }
}

/** Ends the run if another one is making changes, or if the disk is full. */
export function takeLock() {
  unlessRefused(acquireLock, () => refuseFullDisk(join(run.lock, 'pid')));
}

export function refuseFullDisk(path) {
  removeRecords();
  throw new Stop(
    `The file ${formatPath(path)} cannot be written. Free some space on the disk of this ${computer}, and run this again. Nothing was changed.`,
  );
}

export function readStamp() {
  return firstLine(machine.read(recordPath('stamp')));
}

/** Must be called before the first change of a run. */
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
    machine.list(recordPath('files')).some((name) => machine.stat(recordPath('files', name))?.kind === 'folder')
  );
}

/** Removes the records if nothing is set up, and the empty folders that this script has created. */
export function removeRecords() {
  const folders = readLines('folders').map(decodeLine);
  if (!hasSetUpTools()) {
    for (const name of ['tools', 'moving', 'stamp', 'folders', ...(isWindows ? [] : ['variables'])])
      machine.removeFile(recordPath(name));
    for (const name of machine.list(run.records).filter((file) => file.endsWith('.new')))
      machine.removeFile(recordPath(name));
    releaseLock();
    machine.removeFolder(recordPath('files'));
    machine.removeFolder(recordPath('variables'));
    if (!exists(recordPath('backups'))) {
      machine.removeFile(recordPath('inexact'));
      machine.removeFolder(run.records);
    }
  }
  for (const folder of reversed(folders)) machine.removeFolder(folder);
  if (exists(run.records)) {
    const remaining = folders.filter((folder) => machine.stat(folder)).map(encodeLine);
    if (remaining.join('\n') !== readLines('folders').join('\n')) writeLines('folders', remaining);
  } else if (isWindows) machine.removeFolder(run.state);
}

export function backUp(path, content) {
  if (content === undefined) return;
  try {
    if (!run.backup) {
      run.backup = recordPath('backups', run.time);
      for (let number = 2; exists(run.backup); number += 1) run.backup = recordPath('backups', `${run.time}-${number}`);
    }
    const copy = backupPath(path);
    makePrivateFolders(folderOf(copy));
    machine.write(copy, content);
  } catch (error) {
    throw new Refusal(`it cannot be backed up: ${error.message}`);
  }
}

function backupPath(path) {
  return isWindows ? join(run.backup, path.replace(/:/g, '')) : run.backup + path;
}

export function dropBackup(path) {
  if (!run.backup) return;
  const copy = backupPath(path);
  machine.removeFile(copy);
  for (let folder = folderOf(copy); folder.length > run.records.length; folder = folderOf(folder))
    machine.removeFolder(folder);
  if (!exists(run.backup)) run.backup = '';
}

function makePrivateFolders(path) {
  // A path with `..` may contain a folder twice.
  for (const folder of missingFolders(path)) if (!machine.stat(folder)) machine.makeFolder(folder, 0o700);
}
