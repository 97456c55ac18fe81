import { Refusal, unlessRefused } from '../edit/common.mjs';
// Takes our settings out of one file.
import { blockOf, withoutBlock } from './blocks.mjs';
import { insist, octal, removeFile, replaceFile } from './commit.mjs';
import { editSettings } from './edit.mjs';
import { machine } from './machine.mjs';
import { recordPath, resolveLinks, show } from './paths.mjs';
import { refuseObstacle } from './plan.mjs';
import { readRecord, refuseCovered, removeRecord } from './records.mjs';
import { run, worstOf } from './run.mjs';

/**
 * The planned change of a recorded file: real, shown, current, after, mode, left (settings that stay), reason, and the verdict:
 *   restored   it gets the bytes that it had before
 *   removed    it did not exist before and goes away
 *   cleaned    our settings are taken out; other changes since then stay
 *   gone       it was deleted or moved meanwhile, or stays as it is
 *   unchanged  it is as it was before, already
 *   failed     with a reason
 */
export function computeUndo(name) {
  const way = { name, verdict: '', reason: '', left: [], shown: '' };
  unlessRefused(
    () => {
      const record = readRecord(name);
      if (!record) throw new Refusal(`the record ${recordPath('files', name)} is incomplete`);
      way.shown = show(record.path);
      findWayBack(way, record);
    },
    ({ message }) => Object.assign(way, { verdict: 'failed', reason: message.replace(/\.$/, '') }),
  );
  return way;
}

function findWayBack(way, record) {
  way.real = resolveLinks(record.path);
  const found = machine.look(way.real);
  if (!found) {
    way.verdict = record.before === undefined ? 'unchanged' : 'gone';
    return;
  }
  refuseObstacle(way.real, found);
  way.current = machine.read(way.real);
  // The permissions from before come back, unless they were changed meanwhile.
  const [before, ours] = record.modes;
  way.mode = octal(found.mode) === ours && before !== '-' ? parseInt(before, 8) : undefined;
  way.after = record.before;
  if (way.current === record.after || way.current === record.before) {
    way.verdict = record.before === undefined ? 'removed' : 'restored';
    return;
  }
  refuseCovered(record);
  if (record.format === 'text')
    Object.assign(way, { verdict: 'gone', reason: 'its text was changed meanwhile and stays' });
  else takeOut(way, record);
}

/** Takes our settings out of a file with other changes. */
function takeOut(way, record) {
  const { format, identity, wanted: previous, before } = record;
  if (format === 'block') {
    const clean = withoutBlock(blockOf(way.current), before);
    way.after = clean === '' && before === undefined ? undefined : clean;
  } else Object.assign(way, editSettings('remove', { format, identity }, { current: way.current, previous, before }));
  way.verdict = way.after === undefined ? 'removed' : way.after === before ? 'restored' : 'cleaned';
}

/** Does it, and forgets the record unless it failed. */
export function undoFile(name) {
  const way = {};
  const undo = () => {
    Object.assign(way, computeUndo(name));
    const isChange = way.current !== way.after || way.mode !== undefined;
    if (way.verdict === 'removed') removeFile(way.real, way.current);
    else if (isChange && /restored|cleaned/.test(way.verdict)) replaceFile(way.real, way.after, way.mode, way.current);
  };
  unlessRefused(
    () => insist(undo),
    ({ message: reason }) => Object.assign(way, { verdict: 'failed', reason }),
  );
  if (['failed', 'gone', 'cleaned'].includes(way.verdict)) machine.write(recordPath('inexact'), '');
  if (way.verdict === 'failed') run.hasFailed = true;
  else removeRecord(name);
  return way;
}

/** The most serious verdict on the files of a tool, with the message for each file. */
export function verdictOf(ways) {
  const verdict = worstOf(ways) ?? 'removed';
  const details = ways.map(({ shown, reason, left, verdict: own }) => {
    const more =
      left.length > 0
        ? `changed since, and left alone: ${left.join(' ')}`
        : reason || (own === 'gone' ? 'it was deleted or moved meanwhile' : '');
    return more ? `${shown} (${more})` : shown;
  });
  return [verdict === 'unchanged' ? 'removed' : verdict, details.join(', ')];
}
