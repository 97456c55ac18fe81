// Moves tools from former names of the service. Each of them is a service with another folder, other markers and other names in
// settings. A tool set up under a former name is taken out before it is set up under the present one. A run that ends in between leaves
// the record `moving`, so that the next one knows the tools and their models.
import { releaseLock } from './lock.mjs';
import { eachFormer, recordPath } from './paths.mjs';
import { readLines, readTools, refuseFullDisk, saveTool, takeLock, writeLines } from './records.mjs';
import { printable, run, say } from './run.mjs';
import { listSetUp, undoService } from './undo.mjs';

/** Reads which tools wait for their move (moving), and which are set up under a former name (former), with their models. */
export function readFormer() {
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

/** The model that the user has named for a tool, under this name or a former one; '' without one. */
export function savedModel(id) {
  return readTools('tools').get(id) || run.moving.get(id) || run.former.get(id) || '';
}

/** Takes these tools out of what was set up under former names, as far as it is. True when anything was. */
export function takeOver(ready) {
  if (!hasFormer(ready)) return false;
  if (!run.options.isDryRun) {
    saveMoving(ready);
    // Each name has a lock of its own, and a run holds one at a time.
    releaseLock();
  }
  say(`\nSettings under a former name of ${printable(run.data.service)} are taken out first:`);
  const { options } = run;
  run.options = { ...options, action: 'undo', hasConsent: true };
  eachFormer(() => undoService(ready));
  run.options = options;
  if (!options.isDryRun) takeLock();
  return true;
}

export function hasFormer(ready) {
  return ready.some((id) => run.former.has(id));
}

/** Puts the tools that are about to lose their former settings on record. */
function saveMoving(ready) {
  try {
    for (const id of ready) if (run.former.has(id)) saveTool('moving', id, savedModel(id));
    // Folders that were created under a former name, such as ~/.config, are no longer empty when its records go. They come
    // first, because folders are removed from the last one.
    const folders = [];
    eachFormer(() => folders.push(...readLines('folders')));
    writeLines('folders', [...new Set([...folders, ...readLines('folders')])]);
  } catch {
    refuseFullDisk(recordPath('moving'));
  }
}
