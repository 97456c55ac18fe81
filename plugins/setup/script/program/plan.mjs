import { Refusal, unlessRefused } from '../edit/common.mjs';
import { json } from '../edit/json.mjs';
// The planned content of each file of a tool. A plan has tool, source (the path in the table), format, identity, at, isSecret; wanted,
// current, before, after (contents; undefined: no file); real (its path), shown; mode and oldMode; record (its name), and the
// verdict: written, unchanged, manual (a person must edit it), skipped or failed with a reason. Nothing is written here.
import { blockOf, withBlock, withoutBlock } from './blocks.mjs';
import { editSettings } from './edit.mjs';
import { decode, encode, machine } from './machine.mjs';
import { holdsKey } from './models.mjs';
import { expandFirst, folderOf, isSamePath, placesOf, resolveLinks, show } from './paths.mjs';
import { readRecords, refuseCovered } from './records.mjs';
import { isWindows, option, run } from './run.mjs';
import { fill } from './variant.mjs';

/** Plans the file of an action. The same file where an earlier run wrote it, with other variables, is brought up to date too. */
export function planFile(tool, action, wishes) {
  const first = planAt(tool, action, wishes, () => expandFirst(placesOf(action), wishes.places));
  return [first, ...planMoved(tool, action, wishes, first.real)];
}

export function planMoved(tool, action, wishes, real) {
  const isOther = ({ path, source }) =>
    source === sourceOf(action) && !(real && isSamePath(path, real)) && machine.look(path);
  return readRecords(tool)
    .filter(isOther)
    .map((record) => planAt(tool, action, wishes, () => record.path));
}

const sourceOf = (action) => placesOf(action).join('|');

function planAt(tool, action, wishes, locate) {
  // Actions of the table have a text with placeholders; actions of shells have the content itself.
  const { format, identity, initial, elsewhere, dialect, at, text = '', content } = action;
  const filled = content ?? fill(text, wishes.fill);
  const wanted = elsewhere ? withoutSettled(filled, initial, elsewhere) : filled;
  const plan = {
    tool,
    format,
    source: sourceOf(action),
    identity: [identity?.join(',') || '-', ...(initial ? [initial.join(',')] : [])].join(';'),
    at,
    dialect,
    isSecret: action.isSecret ?? holdsKey(text),
    wanted: encode(`${wanted.replace(/\n+$/, '')}\n`),
    shown: sourceOf(action).split('|').pop(),
    reason: '',
  };
  const place = () => {
    const path = locate();
    plan.shown = show(path);
    plan.real = resolveLinks(path);
    plan.isLink = plan.real !== path;
    return computePlan(plan);
  };
  return unlessRefused(place, (refusal) => refusePlan(plan, refusal, 'skipped'));
}

/** The settings without the initial members that another file of the tool has: an administrator's, for example. */
function withoutSettled(wanted, initial, elsewhere) {
  const read = () => elsewhere.flatMap(filesAt).map((path) => decode(machine.read(path) ?? ''));
  return unlessRefused(
    () => read().reduce((rest, text) => json.withoutPresent(rest, text, initial), wanted),
    // An unreadable file may have them.
    () => json.withoutPresent(wanted, wanted, initial),
  );
}

/** A file, or the files of JSON in a folder. */
function filesAt(place) {
  const path = expandFirst(placesOf(place));
  if (!/[\\/]$/.test(path)) return machine.look(path)?.kind === 'file' ? [path] : [];
  return machine
    .list(path)
    .filter((name) => name.endsWith('.json'))
    .map((name) => path + name);
}

function refusePlan(plan, { message }, verdict) {
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
  const find = () => {
    readCurrent(plan);
    if (plan.verdict) return;
    const record = findRecord(plan);
    const isOurs = record !== undefined && plan.current !== undefined && plan.current === record.after;
    if (record) readOld(plan, record, isOurs);
    if (isOurs && plan.wanted === record.wanted) keep(plan, record);
    else compute(plan, record, isOurs);
  };
  unlessRefused(find, (refusal) => refusePlan(plan, refusal, 'failed'));
  if (!plan.verdict) {
    const isSame =
      plan.current !== undefined && (plan.isKept || plan.current === plan.after) && plan.mode === plan.oldMode;
    plan.verdict = isSame ? 'unchanged' : 'written';
  }
  return plan;
}

/**
 * Reads the file, and decides its permissions. The permissions of a file behind a link stay, because its user keeps it elsewhere on
 * purpose.
 */
function readCurrent(plan) {
  plan.mode = plan.isSecret ? 0o600 : undefined;
  plan.oldMode = undefined;
  const isPretended = run.pretended.has(plan.real);
  if (isPretended && run.pretended.get(plan.real) === undefined) return;
  const found = machine.look(plan.real);
  if (!found) return refuseDeadFolder(plan);
  refuseObstacle(plan.real, found);
  plan.oldMode = found.mode;
  if (!plan.isSecret || plan.isLink || isWindows) plan.mode = found.mode;
  plan.current = isPretended ? run.pretended.get(plan.real) : machine.read(plan.real);
}

/** A link into a folder that does not exist: a file system that is not mounted, perhaps. */
function refuseDeadFolder(plan) {
  if (!plan.isLink || machine.look(folderOf(plan.real))) return;
  Object.assign(plan, {
    verdict: 'skipped',
    reason: `it is a link to ${show(plan.real)}, whose folder does not exist`,
  });
}

/** @throws Refusal for a file that cannot be replaced */
export function refuseObstacle(path, { kind, links, owner, mode }) {
  if (kind === 'folder') throw new Refusal('it is a folder');
  if (kind !== 'file') throw new Refusal('it is not a regular file');
  if (!machine.isAllowed(path, false)) throw new Refusal('it cannot be read');
  if (!machine.isAllowed(path, true) || (isWindows && !(mode & 0o200))) throw new Refusal('it is write-protected');
  if (!machine.isAllowed(folderOf(path) || '/', true)) throw new Refusal('its folder is write-protected');
  if (!isWindows && owner !== machine.user && machine.user !== 0) throw new Refusal('it belongs to another user');
  // To replace a file that has several names would part them.
  if (links > 1) throw new Refusal('it has more than one name (hard links)');
}

function findRecord(plan) {
  const record = readRecords(plan.tool).find(({ path }) => isSamePath(path, plan.real));
  if (record) plan.record = record.name;
  return record;
}

function readOld(plan, record, isOurs) {
  if (record.format !== plan.format)
    throw new Refusal(`it was set up in another way by an earlier version; run ${option('undo')} for this tool first`);
  plan.before = record.before;
  if (plan.current !== undefined && !isOurs) refuseCovered(record);
}

function keep(plan, record) {
  plan.isKept = true;
  Object.assign(plan, { after: plan.current, before: record.before });
}

function compute(plan, record, isOurs) {
  const { format, current, wanted } = plan;
  if (format === 'text') {
    // The whole file is ours; what stood there comes back by an undo.
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
  const block = blockOf(plan.current ?? '');
  plan.after = withBlock(block, plan.wanted);
  if (isOurs) return;
  // Settings that the user has added to the file since then belong to it.
  const clean = withoutBlock(block, plan.before);
  const hasRest = plan.current !== undefined && (clean !== '' || !block.isFound || plan.before !== undefined);
  plan.before = hasRest ? clean : undefined;
}
