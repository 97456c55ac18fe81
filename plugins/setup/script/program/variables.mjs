// The user's variables, which some tools read: lines of a file that the shell's profile reads, or the Windows registry.

import { machine } from './machine.mjs';
import { join, recordPath } from './paths.mjs';
import { listFiles } from './records.mjs';
import { registry, listStoredValues } from './registry.mjs';
import { isWindows, run } from './run.mjs';
import { shell } from './shell.mjs';

/**
 * The store of this system. Both stores have
 *   hasSame(id, wanted)        true if the tool's variables had these values when the run began
 *   plan(ready)                plans the variables of tools, a Map by id: plans of files, hasVariables, isChanged
 *   commit(plan)               writes a plan; returns the plans that failed
 *   show(plan)                 prints a plan as differences
 *   owners()                   ids of tools with recorded variables
 *   changed(id)                names of the tool's variables that were changed since
 *   isOutdated(wanted)         true if a run would write other values
 *   undo(ids)                  restores variables that no other tool needs, and prints the results
 */
export const variables = isWindows ? registry : shell;

/** Lists texts that may contain the key of the settings. */
export function listStoredTexts() {
  const own = isWindows ? listStoredValues() : [machine.read(join(run.state, 'env')) ?? ''];
  return [...own, ...listFiles().map((name) => machine.read(recordPath('files', name, 'wanted')) ?? '')];
}
