// Removes the settings from one file.

import { Refusal, unlessRefused } from '../edit/common.mjs';
import { findBlock, withoutBlock } from './blocks.mjs';
import { retryIfChanged, formatMode, removeFile, replaceFile } from './commit.mjs';
import { editSettings } from './edit.mjs';
import { machine } from './machine.mjs';
import { recordPath, resolveLinks, formatPath } from './paths.mjs';
import { requireReplaceable } from './plan.mjs';
import { readRecord, refuseIfOverwritten, removeRecord } from './records.mjs';
import { run, findWorstVerdict } from './run.mjs';

/**
 * Plans the change of a recorded file: real, shown, current, after, mode, left (settings that stay), reason, and the verdict:
 *   restored   it gets its earlier bytes
 *   removed    it did not exist before and is deleted
 *   cleaned    our settings are removed; other changes since then stay
 *   gone       it has been deleted or moved since, or stays as it is
 *   unchanged  it does not exist, as before
 *   failed     `reason` says why
 */
export function computeUndo(name) {
  const change = { name, verdict: '', reason: '', left: [], shown: '' };
  unlessRefused(
    () => {
      const record = readRecord(name);
      if (!record) throw new Refusal(`the record ${recordPath('files', name)} is incomplete`);
      change.shown = formatPath(record.path);
      planUndo(change, record);
    },
    ({ message }) => Object.assign(change, { verdict: 'failed', reason: message.replace(/\.$/, '') }),
  );
  return change;
}

function planUndo(change, record) {
  change.real = resolveLinks(record.path);
  const entry = machine.stat(change.real);
  if (!entry) {
    change.verdict = record.before === undefined ? 'unchanged' : 'gone';
    return;
  }
  requireReplaceable(change.real, entry);
  change.current = machine.read(change.real);
  // Restores the earlier permissions unless they have been changed in the meantime.
  const [before, ours] = record.modes;
  change.mode = formatMode(entry.mode) === ours && before !== '-' ? parseInt(before, 8) : undefined;
  change.after = record.before;
  if (change.current === record.after || change.current === record.before) {
    change.verdict = record.before === undefined ? 'removed' : 'restored';
    return;
  }
  refuseIfOverwritten(record);
  if (record.format === 'text')
    Object.assign(change, { verdict: 'gone', reason: 'its text was changed meanwhile and stays' });
  else removeSettings(change, record);
}

function removeSettings(change, record) {
  const { format, identity, wanted: previous, before } = record;
  if (format === 'block') {
    const content = withoutBlock(findBlock(change.current), before);
    change.after = content === '' && before === undefined ? undefined : content;
  } else
    Object.assign(change, editSettings('remove', { format, identity }, { current: change.current, previous, before }));
  if (change.after === undefined) change.verdict = 'removed';
  else change.verdict = change.after === before ? 'restored' : 'cleaned';
}

export function undoFile(name) {
  const change = {};
  const undo = () => {
    Object.assign(change, computeUndo(name));
    const isChange = change.current !== change.after || change.mode !== undefined;
    if (change.verdict === 'removed') removeFile(change.real, change.current);
    else if (isChange && /restored|cleaned/.test(change.verdict))
      replaceFile(change.real, change.after, change.mode, change.current);
  };
  unlessRefused(
    () => retryIfChanged(undo),
    ({ message: reason }) => Object.assign(change, { verdict: 'failed', reason }),
  );
  if (['failed', 'gone', 'cleaned'].includes(change.verdict)) machine.write(recordPath('inexact'), '');
  if (change.verdict === 'failed') run.hasFailed = true;
  else removeRecord(name);
  return change;
}

export function summarizeChanges(changes) {
  const verdict = findWorstVerdict(changes) ?? 'removed';
  const details = changes.map(({ shown, reason, left, verdict: own }) => {
    const more =
      left.length > 0
        ? `changed since, and left alone: ${left.join(' ')}`
        : reason || (own === 'gone' ? 'it was deleted or moved meanwhile' : '');
    return more ? `${shown} (${more})` : shown;
  });
  return [verdict === 'unchanged' ? 'removed' : verdict, details.join(', ')];
}
