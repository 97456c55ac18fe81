// Moves tools from former names of the service. Each name has its own folder, markers and names in settings, as if it were another service.
// A tool is undone under its former name before it is set up under the present one. If a run ends in between, the next one finds the tools
// and their models in the record `moving`.

import { releaseLock } from './lock.mjs';
import { eachFormer, recordPath } from './paths.mjs';
import { readLines, readTools, refuseFullDisk, saveTool, takeLock, writeLines } from './records.mjs';
import { printable, run, printLine } from './run.mjs';
import { listSetUp, undoService } from './undo.mjs';

export function readFormerTools() {
  const former = new Map();
  const add = (tools) => {
    for (const [id, model] of tools) if (id !== 'shell' && !former.get(id)) former.set(id, model);
  };
  eachFormer(() => {
    add(readTools('tools'));
    add(readTools('moving'));
    add(listSetUp().map((id) => [id, '']));
  });
  run.former = former;
  run.moving = readTools('moving');
}

/** The user may have chosen the model under any name of the service. Returns '' if there is none. */
export function readSavedModel(id) {
  return readTools('tools').get(id) || run.moving.get(id) || run.former.get(id) || '';
}

/** Returns true if one of these tools was set up under a former name. */
export function moveFromFormerNames(ids) {
  if (!hasFormerTools(ids)) return false;
  if (!run.options.isDryRun) {
    saveMoving(ids);
    // Each name has its own lock, and a run holds only one at a time.
    releaseLock();
  }
  printLine(`\nSettings under a former name of ${printable(run.data.service)} are taken out first:`);
  const { options } = run;
  run.options = { ...options, action: 'undo', hasConsent: true };
  eachFormer(() => undoService(ids));
  run.options = options;
  if (!options.isDryRun) takeLock();
  return true;
}

export function hasFormerTools(ids) {
  return ids.some((id) => run.former.has(id));
}

function saveMoving(ids) {
  try {
    for (const id of ids) if (run.former.has(id)) saveTool('moving', id, readSavedModel(id));
    // The list starts with them, because folders are removed in reverse order.
    const folders = [];
    eachFormer(() => folders.push(...readLines('folders')));
    writeLines('folders', [...new Set([...folders, ...readLines('folders')])]);
  } catch {
    refuseFullDisk(recordPath('moving'));
  }
}
