// Plans the content of each file of a tool, and writes nothing. A plan has tool, source (the path in the table), format, identity, at,
// isSecret; the contents wanted, current, before, after (undefined for no file); its path as real and shown; mode and oldMode; the name of
// its record; and the verdict: written, unchanged, manual (a person must edit it), skipped, or failed with a reason.

import { Refusal, unlessRefused } from '../edit/common.mjs';
import { json } from '../edit/json.mjs';
import { findBlock, withBlock, withoutBlock } from './blocks.mjs';
import { editSettings } from './edit.mjs';
import { decode, encode, machine } from './machine.mjs';
import { holdsKey } from './models.mjs';
import { findFile, folderOf, isSamePath, listPaths, resolveLinks, formatPath } from './paths.mjs';
import { readRecords, refuseIfOverwritten } from './records.mjs';
import { isWindows, formatOption, run } from './run.mjs';
import { fillPlaceholders } from './variant.mjs';

/** Also plans copies of the file at paths where earlier runs wrote it because of other variables. */
export function planFile(tool, action, target) {
  const plan = planAt(tool, action, target, () => findFile(listPaths(action), target.places));
  return [plan, ...planRecorded(tool, action, target, plan.real)];
}

/** @param real path of the file that is not planned here */
export function planRecorded(tool, action, target, real) {
  const isOther = ({ path, source }) =>
    source === formatSource(action) && !(real && isSamePath(path, real)) && machine.stat(path);
  return readRecords(tool)
    .filter(isOther)
    .map((record) => planAt(tool, action, target, () => record.path));
}

const formatSource = (action) => listPaths(action).join('|');

function planAt(tool, action, target, locate) {
  // Actions of the table have a text with placeholders; actions for shells have the content itself.
  const { format, identity, initial, elsewhere, dialect, at, text = '', content } = action;
  const filled = content ?? fillPlaceholders(text, target.fill);
  const wanted = elsewhere ? withoutInitialElsewhere(filled, initial, elsewhere) : filled;
  const plan = {
    tool,
    format,
    source: formatSource(action),
    identity: [identity?.join(',') || '-', ...(initial ? [initial.join(',')] : [])].join(';'),
    at,
    dialect,
    isSecret: action.isSecret ?? holdsKey(text),
    wanted: encode(`${wanted.replace(/\n+$/, '')}\n`),
    shown: formatSource(action).split('|').pop(),
    reason: '',
  };
  const planContent = () => {
    const path = locate();
    plan.shown = formatPath(path);
    plan.real = resolveLinks(path);
    plan.isLink = plan.real !== path;
    return computePlan(plan);
  };
  return unlessRefused(planContent, (refusal) => rejectPlan(plan, refusal, 'skipped'));
}

function withoutInitialElsewhere(wanted, initial, elsewhere) {
  // Another file of the tool, for example an administrator's, may have these members.
  const read = () => elsewhere.flatMap(listFilesAt).map((path) => decode(machine.read(path) ?? ''));
  return unlessRefused(
    () => read().reduce((settings, text) => json.withoutPresent(settings, text, initial), wanted),
    // An unreadable file may have all of these members.
    () => json.withoutPresent(wanted, wanted, initial),
  );
}

function listFilesAt(place) {
  const path = findFile(listPaths(place));
  if (!/[\\/]$/.test(path)) return machine.stat(path)?.kind === 'file' ? [path] : [];
  return machine
    .list(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => path + name);
}

function rejectPlan(plan, { message }, verdict) {
  return Object.assign(plan, { verdict, reason: message.replace(/\.$/, '') });
}

export function computePlan(plan) {
  Object.assign(plan, {
    verdict: '',
    reason: '',
    current: undefined,
    before: undefined,
    after: undefined,
    record: '',
    isKept: false,
    left: [],
  });
  const computeContent = () => {
    readCurrent(plan);
    if (plan.verdict) return;
    const record = findRecord(plan);
    const isOurs = record !== undefined && plan.current !== undefined && plan.current === record.after;
    if (record) readOriginal(plan, record, isOurs);
    if (isOurs && plan.wanted === record.wanted) keepContent(plan, record);
    else computeAfter(plan, record, isOurs);
  };
  unlessRefused(computeContent, (refusal) => rejectPlan(plan, refusal, 'failed'));
  if (!plan.verdict) {
    const isSame =
      plan.current !== undefined && (plan.isKept || plan.current === plan.after) && plan.mode === plan.oldMode;
    plan.verdict = isSame ? 'unchanged' : 'written';
  }
  return plan;
}

function readCurrent(plan) {
  plan.mode = plan.isSecret ? 0o600 : undefined;
  plan.oldMode = undefined;
  const isPretended = run.pretended.has(plan.real);
  if (isPretended && run.pretended.get(plan.real) === undefined) return;
  const entry = machine.stat(plan.real);
  if (!entry) return skipDeadLink(plan);
  requireReplaceable(plan.real, entry);
  plan.oldMode = entry.mode;
  // A file behind a link keeps its permissions, because its user has put it elsewhere on purpose.
  if (!plan.isSecret || plan.isLink || isWindows) plan.mode = entry.mode;
  plan.current = isPretended ? run.pretended.get(plan.real) : machine.read(plan.real);
}

function skipDeadLink(plan) {
  // A link's target may be on a file system that is not mounted.
  if (!plan.isLink || machine.stat(folderOf(plan.real))) return;
  Object.assign(plan, {
    verdict: 'skipped',
    reason: `it is a link to ${formatPath(plan.real)}, whose folder does not exist`,
  });
}

export function requireReplaceable(path, { kind, links, owner, mode }) {
  if (kind === 'folder') throw new Refusal('it is a folder');
  if (kind !== 'file') throw new Refusal('it is not a regular file');
  if (!machine.isReadable(path)) throw new Refusal('it cannot be read');
  if (!machine.isWritable(path) || (isWindows && !(mode & 0o200))) throw new Refusal('it is write-protected');
  if (!machine.isWritable(folderOf(path) || '/')) throw new Refusal('its folder is write-protected');
  if (!isWindows && owner !== machine.user && machine.user !== 0) throw new Refusal('it belongs to another user');
  // Replacing a file with several hard links would separate them.
  if (links > 1) throw new Refusal('it has more than one name (hard links)');
}

function findRecord(plan) {
  const record = readRecords(plan.tool).find(({ path }) => isSamePath(path, plan.real));
  if (record) plan.record = record.name;
  return record;
}

function readOriginal(plan, record, isOurs) {
  if (record.format !== plan.format)
    throw new Refusal(
      `it was set up in another way by an earlier version; run ${formatOption('undo')} for this tool first`,
    );
  plan.before = record.before;
  if (plan.current !== undefined && !isOurs) refuseIfOverwritten(record);
}

function keepContent(plan, record) {
  plan.isKept = true;
  Object.assign(plan, { after: plan.current, before: record.before });
}

function computeAfter(plan, record, isOurs) {
  const { format, current, wanted } = plan;
  if (format === 'text') {
    // The whole file is ours. Undo restores what was there before.
    plan.after = wanted;
    if (!isOurs) plan.before = current;
  } else if (format === 'block') computeBlock(plan, isOurs);
  else if ((isOurs && isBlank(plan.before)) || isBlank(current)) {
    plan.after = wanted;
    if (!isOurs) plan.before = current;
  } else
    Object.assign(
      plan,
      editSettings('apply', plan, { current, wanted, previous: record?.wanted, before: plan.before }),
    );
}

function isBlank(content) {
  return content === undefined || /^\s*$/.test(content);
}

function computeBlock(plan, isOurs) {
  const block = findBlock(plan.current ?? '');
  plan.after = withBlock(block, plan.wanted);
  if (isOurs) return;
  // Lines that the user has added since then are part of the original.
  const original = withoutBlock(block, plan.before);
  const hasOtherContent =
    plan.current !== undefined && (original !== '' || !block.isFound || plan.before !== undefined);
  plan.before = hasOtherContent ? original : undefined;
}
