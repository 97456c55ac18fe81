// Variables of the user on Windows, in the registry. The launcher reads and writes them: `registry` in its folder has the
// present ones, `changes` those to be made, in lines NAME TAB KIND TAB BASE64, where no value stands for no variable. The record
// of each, variables\NAME, has tools, the ids of those that need it; value; was, the value of ours that it replaced; before (absent: it
// was not set) and kind; and `gone` once it is about to be taken back.
import { decode, encode, machine } from './machine.mjs';
import { hideSecrets } from './mask.mjs';
import { eachFormer, join, recordPath } from './paths.mjs';
import { nameOf, paint, printVerdict, run, say } from './run.mjs';

const workPath = (name) => join(machine.env('SETUP_WORK') ?? '', name);

/** The variables of the user by name, value and kind, as they will be after the changes that wait. */
function readRegistry() {
  const lines = (machine.read(workPath('registry')) ?? '').split(/\r?\n/).filter(Boolean);
  const found = new Map();
  for (const line of [...lines, ...(run.changes?.values() ?? [])]) {
    const [name, kind, value] = line.split('\t');
    if (value === undefined) found.delete(name);
    else found.set(name, { kind, value: decode(atob(value)) });
  }
  return found;
}

const names = () => machine.list(recordPath('variables')).filter((name) => !name.endsWith('.new'));
const part = (name, one) => machine.read(recordPath('variables', name, one));

function readVariable(name) {
  const [tools, value] = [part(name, 'tools'), part(name, 'value')];
  if (tools === undefined || value === undefined) return undefined;
  const text = (one) => (part(name, one) === undefined ? undefined : decode(part(name, one)));
  return {
    tools: decode(tools).split(' ').filter(Boolean),
    value: decode(value),
    was: text('was'),
    before: text('before'),
    kind: text('kind'),
  };
}

function saveVariable(name, { tools, ...texts }, isGone = false) {
  const folder = recordPath('variables', name);
  if (!machine.look(recordPath('variables'))) machine.makeFolder(recordPath('variables'), 0o700);
  if (!machine.look(folder)) machine.makeFolder(folder, 0o700);
  const parts = { ...texts, tools: tools.join(' '), ...(isGone && { gone: '' }) };
  for (const one of ['was', 'before', 'kind', 'gone'])
    if (parts[one] === undefined) machine.removeFile(join(folder, one));
  for (const [one, text] of Object.entries(parts))
    if (text !== undefined) machine.write(join(folder, one), encode(text));
}

/** Leaves a change to the launcher. Undefined removes the variable. */
function change(name, value, kind = 'String') {
  run.changes = run.changes ?? new Map();
  run.changes.set(name, [name, kind, ...(value === undefined ? [] : [btoa(encode(value))])].join('\t'));
}

/** Leaves them and the exit code to the launcher. False when there are none. */
export function writeChanges(code) {
  if (!run.changes) return false;
  machine.write(workPath('changes'), [code, ...run.changes.values()].map((line) => `${line}\r\n`).join(''));
  return true;
}

const isGone = (name) => part(name, 'gone') !== undefined;

/** Once the launcher has made the changes. */
export function settleVariables() {
  for (const name of names().filter(isGone)) machine.removeTree(recordPath('variables', name));
}

/** After a run that ended before its launcher made the changes: takes the variables of those records back again. */
export function repairVariables() {
  const own = names().filter((name) => !isGone(name));
  repairOthers([]);
  eachFormer(() => repairOthers(own));
}

/** The present service may have set a variable again that was to go under a former name. */
function repairOthers(present) {
  for (const name of names().filter(isGone)) {
    const { value, was, before, kind } = readVariable(name);
    const now = readRegistry().get(name)?.value;
    if (!present.includes(name) && now !== undefined && [value, was].includes(now)) change(name, before, kind);
    else machine.removeTree(recordPath('variables', name));
  }
}

export function storedInRegistry() {
  return names().map((name) => part(name, 'value') ?? '');
}

export const registry = {
  hasSame: (id, wanted) => wanted.every(([name, value]) => isSet(id, name, value)),

  plan(ready) {
    const wanted = [...ready].flatMap(([id, list]) => list.map(([name, value]) => ({ id, name, value })));
    const isChanged = wanted.some(({ id, name, value }) => !isSet(id, name, value));
    return { ready, wanted, isChanged, hasVariables: wanted.length > 0, plans: [] };
  },

  commit({ ready, wanted }) {
    for (const [id, list] of ready)
      dropOwner(
        id,
        list.map(([name]) => name),
      );
    for (const { id, name, value } of wanted) {
      if (isSet(id, name, value)) continue;
      const old = readVariable(name);
      const now = readRegistry().get(name);
      const isOurs = old !== undefined && now !== undefined && [old.value, old.was].includes(now.value);
      const kept = isOurs
        ? { before: old.before, kind: old.kind, was: now.value }
        : { before: now?.value, kind: now?.kind };
      saveVariable(name, { ...kept, value, tools: [...new Set([...(old?.tools ?? []), id])] });
      change(name, value);
    }
    return [];
  },

  show({ wanted }) {
    for (const { id, name, value } of wanted)
      if (!isSet(id, name, value)) say(paint('green', hideSecrets(`+ variable ${name} = ${value}`)));
  },

  owners: () => [...new Set(names().flatMap((name) => readVariable(name)?.tools ?? []))],

  changed(id) {
    const present = readRegistry();
    return names()
      .map((name) => ({ name, record: readVariable(name) }))
      .filter(({ name, record }) => record?.tools.includes(id) && present.get(name)?.value !== record.value)
      .map(({ name }) => `the variable ${name}`);
  },

  isOutdated(wanted) {
    const present = readRegistry();
    return wanted.some(([name, value]) => present.get(name)?.value !== value);
  },

  undo(ids) {
    for (const id of ids) {
      const left = dropOwner(id, []);
      if (left.length > 0) printVerdict(nameOf(id), 'cleaned', `${left.join(', ')} was changed since, and left alone`);
    }
  },
};

function isSet(id, name, value) {
  const record = readVariable(name);
  return (
    record !== undefined &&
    record.tools.includes(id) &&
    record.value === value &&
    readRegistry().get(name)?.value === value
  );
}

/**
 * Takes a tool off the records, except for names that it still needs. Returns variables changed by others: they stay.
 */
function dropOwner(id, kept) {
  const left = [];
  for (const name of names()) {
    const record = readVariable(name);
    if (!record?.tools.includes(id) || kept.includes(name)) continue;
    const others = record.tools.filter((one) => one !== id);
    if (others.length > 0) {
      saveVariable(name, { ...record, tools: others });
      continue;
    }
    const now = readRegistry().get(name)?.value;
    const isOurs = [record.value, record.was].includes(now);
    if (isOurs && now !== undefined) change(name, record.before, record.kind);
    else if (now !== record.before) left.push(name);
    saveVariable(name, { ...record, tools: [] }, true);
  }
  return left;
}
