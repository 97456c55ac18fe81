// The user's variables in the Windows registry. The launcher reads and writes them: its file `registry` has the present ones, and `changes`
// the requested changes, as lines NAME TAB KIND TAB BASE64, without a value to remove a variable. The record of each, variables\NAME, has
// tools, the ids that need it; value; was, our value that it replaced; before, missing if it was not set; kind; and `gone` once it is about
// to be restored.

import { decode, encode, machine } from './machine.mjs';
import { maskSecrets } from './mask.mjs';
import { eachFormer, join, recordPath } from './paths.mjs';
import { toolName, paint, printVerdict, run, printLine } from './run.mjs';

const workPath = (name) => join(machine.env('SETUP_WORK') ?? '', name);

function readRegistry() {
  const lines = (machine.read(workPath('registry')) ?? '').split(/\r?\n/).filter(Boolean);
  const variables = new Map();
  // Applies the staged changes as well.
  for (const line of [...lines, ...(run.changes?.values() ?? [])]) {
    const [name, kind, value] = line.split('\t');
    if (value === undefined) variables.delete(name);
    else variables.set(name, { kind, value: decode(atob(value)) });
  }
  return variables;
}

const listVariables = () => machine.list(recordPath('variables')).filter((name) => !name.endsWith('.new'));
const readPart = (name, part) => machine.read(recordPath('variables', name, part));

function readVariable(name) {
  const [tools, value] = [readPart(name, 'tools'), readPart(name, 'value')];
  if (tools === undefined || value === undefined) return undefined;
  const text = (part) => (readPart(name, part) === undefined ? undefined : decode(readPart(name, part)));
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
  if (!machine.stat(recordPath('variables'))) machine.makeFolder(recordPath('variables'), 0o700);
  if (!machine.stat(folder)) machine.makeFolder(folder, 0o700);
  const parts = { ...texts, tools: tools.join(' '), ...(isGone && { gone: '' }) };
  for (const part of ['was', 'before', 'kind', 'gone'])
    if (parts[part] === undefined) machine.removeFile(join(folder, part));
  for (const [part, text] of Object.entries(parts))
    if (text !== undefined) machine.write(join(folder, part), encode(text));
}

function stageChange(name, value, kind = 'String') {
  run.changes = run.changes ?? new Map();
  // Without a value, the launcher removes the variable.
  run.changes.set(name, [name, kind, ...(value === undefined ? [] : [btoa(encode(value))])].join('\t'));
}

export function writeChanges(code) {
  if (!run.changes) return false;
  machine.write(workPath('changes'), [code, ...run.changes.values()].map((line) => `${line}\r\n`).join(''));
  return true;
}

const isGone = (name) => readPart(name, 'gone') !== undefined;

/** Removes records of restored variables, once the launcher has made the changes. */
export function settleVariables() {
  for (const name of listVariables().filter(isGone)) machine.removeTree(recordPath('variables', name));
}

/** Stages the changes again if a run ended before its launcher made them. */
export function repairVariables() {
  const currentNames = listVariables().filter((name) => !isGone(name));
  repairService([]);
  eachFormer(() => repairService(currentNames));
}

function repairService(currentNames) {
  for (const name of listVariables().filter(isGone)) {
    const { value, was, before, kind } = readVariable(name);
    const now = readRegistry().get(name)?.value;
    // The present service may have set a variable that a former name was about to restore.
    if (!currentNames.includes(name) && now !== undefined && [value, was].includes(now))
      stageChange(name, before, kind);
    else machine.removeTree(recordPath('variables', name));
  }
}

export function listStoredValues() {
  return listVariables().map((name) => readPart(name, 'value') ?? '');
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
      const record = readVariable(name);
      const now = readRegistry().get(name);
      const isOurs = record !== undefined && now !== undefined && [record.value, record.was].includes(now.value);
      const original = isOurs
        ? { before: record.before, kind: record.kind, was: now.value }
        : { before: now?.value, kind: now?.kind };
      saveVariable(name, { ...original, value, tools: [...new Set([...(record?.tools ?? []), id])] });
      stageChange(name, value);
    }
    return [];
  },

  show({ wanted }) {
    for (const { id, name, value } of wanted)
      if (!isSet(id, name, value)) printLine(paint('green', maskSecrets(`+ variable ${name} = ${value}`)));
  },

  owners: () => [...new Set(listVariables().flatMap((name) => readVariable(name)?.tools ?? []))],

  changed(id) {
    const present = readRegistry();
    return listVariables()
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
      const changedNames = dropOwner(id, []);
      if (changedNames.length > 0)
        printVerdict(toolName(id), 'cleaned', `${changedNames.join(', ')} was changed since, and left alone`);
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

function dropOwner(id, keptNames) {
  const changedNames = [];
  for (const name of listVariables()) {
    const record = readVariable(name);
    if (!record?.tools.includes(id) || keptNames.includes(name)) continue;
    const otherOwners = record.tools.filter((owner) => owner !== id);
    if (otherOwners.length > 0) {
      saveVariable(name, { ...record, tools: otherOwners });
      continue;
    }
    const now = readRegistry().get(name)?.value;
    const isOurs = [record.value, record.was].includes(now);
    if (isOurs && now !== undefined) stageChange(name, record.before, record.kind);
    else if (now !== record.before) changedNames.push(name);
    saveVariable(name, { ...record, tools: [] }, true);
  }
  return changedNames;
}
