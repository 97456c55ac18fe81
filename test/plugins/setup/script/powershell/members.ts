import { isInstance, toPattern } from './operators.ts';
import type { Session } from './session.ts';
import { staticsOf } from './statics.ts';
import { Exception, isArray, type Method, NetObject, NetType, Table, Thrown, toText, type Value } from './values.ts';

const find = (members: Readonly<Record<string, Value>>, name: string): Value => {
  const key = Object.keys(members).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : members[key];
};

export function memberOf(interpreter: Session, target: Value, name: string, isStatic = false): Value {
  const lower = name.toLowerCase();
  if (isStatic) return staticMember(interpreter, target as NetType, name);
  if (target === null || target === undefined) return lower === 'count' || lower === 'length' ? 0 : null;
  if (target instanceof Table) return tableMember(target, name);
  if (isArray(target)) {
    if (lower === 'count' || lower === 'length') return target.length;
    const found = (target as Value[])
      .map((one) => memberOf(interpreter, one, name))
      .filter((one) => one !== null && one !== undefined);
    return found.length === 0 ? null : found.length === 1 ? found[0] : found;
  }
  if (target instanceof NetObject) {
    if (target === interpreter.machine.host && lower === 'name') return interpreter.machine.hostName;
    const value = find(target.members, name);
    return typeof value === 'function' && (value as Method & { isProperty?: boolean }).isProperty
      ? (value as Method)()
      : (value ?? null);
  }
  if (typeof target === 'string' && lower === 'length') return target.length;
  return lower === 'count' ? 1 : null;
}

function staticMember({ machine }: Session, type: NetType, name: string): Value {
  const value = find(staticsOf(machine, type.name), name);
  if (value === undefined) throw new Error(`no [${type.name}]::${name}`);
  return typeof value === 'function' ? (value as Method)() : value;
}

function tableMember(table: Table, name: string): Value {
  if (table.has(name)) return table.get(name);
  if (table.kind === 'object') {
    if (name.toLowerCase() !== 'psobject') return null;
    const properties = table.keys.map((key) => new NetObject('PSNoteProperty', { Name: key }));
    return new NetObject('PSObject', { Properties: properties });
  }
  if (name.toLowerCase() === 'keys') return table.keys;
  return name.toLowerCase() === 'count' ? table.keys.length : null;
}

export function setMember(interpreter: Session, target: Value, name: string, value: Value): void {
  if (target instanceof Table) target.set(name, value);
  else if (target instanceof NetObject) {
    const key = Object.keys(target.members).find((one) => one.toLowerCase() === name.toLowerCase());
    target.members[key ?? name] = value;
  } else if (target instanceof NetType) interpreter.machine.statics.set(`${target.name}::${name}`, value);
  else throw new Error(`cannot set ${name} of ${toText(target)}`);
}

export function elementOf(target: Value, index: Value): Value {
  if (target instanceof Table) return target.get(toText(index));
  if (isArray(target) || typeof target === 'string') return target.at(Number(index)) ?? null;
  if (target === null || target === undefined) return null;
  if (target instanceof NetObject && typeof target.members['Item'] === 'function')
    return (target.members['Item'] as Method)(index);
  return Number(index) === 0 ? target : null;
}

export function setElement(target: Value, index: Value, value: Value): void {
  if (target instanceof Table) target.set(toText(index), value);
  else if (Array.isArray(target)) target[Number(index)] = value;
  else if (target instanceof NetObject) (target.members['SetItem'] as Method)(index, value);
  else throw new Error(`cannot set an element of ${toText(target)}`);
}

/** What a method throws is inside of an exception that names the method, as in PowerShell. */
export function callMember(interpreter: Session, target: Value, name: string, args: readonly Value[]): Value {
  const method = methodOf(interpreter, target, name);
  if (method === undefined) throw new Error(`no method ${name} of ${toText(target).slice(0, 80)}`);
  try {
    return method(...args);
  } catch (error) {
    if (!(error instanceof Thrown)) throw error;
    const message = `Exception calling "${name}" with "${args.length}" argument(s): "${error.message}"`;
    throw new Thrown(new Exception('MethodInvocationException', message, error.exception));
  }
}

function methodOf({ machine }: Session, target: Value, name: string): Method | undefined {
  if (target instanceof NetType && name === 'IsInstanceOfType') return (value) => isInstance(value, target);
  if (target instanceof NetType) return find(staticsOf(machine, target.name), name) as Method | undefined;
  if (target instanceof NetObject) return find(target.members, name) as Method | undefined;
  if (typeof target === 'string') return find(textMethods(target), name) as Method | undefined;
  if (typeof target === 'number') return name === 'ToString' ? () => target.toFixed(1) : undefined;
  if (target instanceof Table) return find(tableMethods(target), name) as Method | undefined;
  return undefined;
}

const tableMethods = (table: Table): Record<string, Method> => ({
  Clone: () => {
    const copy = new Table(table.kind, table.isCaseSensitive);
    for (const key of table.keys) copy.set(key, table.get(key));
    return copy;
  },
  Contains: (key) => table.has(toText(key)),
  ContainsKey: (key) => table.has(toText(key)),
  Remove: (key) => {
    table.delete(toText(key));
    return undefined;
  },
});

const isOrdinal = (kind: Value) => toText(kind).startsWith('Ordinal');
const fold = (text: Value, kind: Value) =>
  toText(kind) === 'OrdinalIgnoreCase' ? toText(text).toLowerCase() : toText(text);
const anyOf = (letters: Value, end: '^' | '$') => {
  const set = Array.isArray(letters) ? letters.map(toText).join('') : toText(letters);
  const inside = set === '' ? '\\s' : set.replaceAll(/[\]\\^-]/g, '\\$&');
  return toPattern(end === '^' ? `\\A[${inside}]+` : `[${inside}]+\\z`, false);
};

const textMethods = (text: string): Record<string, Method> => ({
  Trim: () => text.trim(),
  TrimStart: (letters = '') => text.replace(anyOf(letters, '^'), ''),
  TrimEnd: (letters = '') => text.replace(anyOf(letters, '$'), ''),
  Split: (separator) => text.split(toText(separator)),
  Substring: (start, length) =>
    text.slice(Number(start), length === undefined ? undefined : Number(start) + Number(length)),
  Replace: (old, wanted) => text.replaceAll(toText(old), () => toText(wanted)),
  StartsWith: (start, kind) => isOrdinal(kind) && fold(text, kind).startsWith(fold(start, kind)),
  EndsWith: (end, kind) => isOrdinal(kind) && fold(text, kind).endsWith(fold(end, kind)),
  IndexOf: (part, kind) => fold(text, kind).indexOf(fold(part, kind)),
  Contains: (part) => text.includes(toText(part)),
  ToLowerInvariant: () => text.toLowerCase(),
  ToCharArray: () => [...text],
});
