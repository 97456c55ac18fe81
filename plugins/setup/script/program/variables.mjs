// Variables of the user, which some tools read: lines of a file that the profile of the shell reads, or the registry of Windows.
import { machine } from './machine.mjs';
import { join, recordPath } from './paths.mjs';
import { listFiles } from './records.mjs';
import { registry, storedInRegistry } from './registry.mjs';
import { isWindows, run } from './run.mjs';
import { shell } from './shell.mjs';

/**
 * How this system keeps them; both have
 *   hasSame(id, wanted)        whether the tool's variables were there when the run began
 *   plan(ready)                what is to be done for tools, a Map of variables by id: plans of files, hasVariables, isChanged
 *   commit(plan)               does it; gives what failed, as plans
 *   show(plan)                 prints it as differences
 *   owners()                   ids of the tools with variables on record
 *   changed(id)                names of variables of the tool that are not as they were written
 *   isOutdated(wanted)         whether a run would write others
 *   undo(ids)                  takes those that no other tool needs back, and prints what became of them
 */
export const variables = isWindows ? registry : shell;

/** Texts in which the key of the settings can be. */
export function storedTexts() {
  const own = isWindows ? storedInRegistry() : [machine.read(join(run.state, 'env')) ?? ''];
  return [...own, ...listFiles().map((name) => machine.read(recordPath('files', name, 'wanted')) ?? '')];
}
