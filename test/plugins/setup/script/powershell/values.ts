import type { SyntaxNode } from './tree.ts';

/*
 * Values of PowerShell: null, boolean, number and text are those of JavaScript, every array of .NET is an Array or, of bytes, a
 * Uint8Array, and undefined is what a command without output gives: it is $null, but nothing in a pipeline.
 */
export type Value = unknown;

/** A hash table, or an object of JSON. */
export class Table {
  readonly entries = new Map<string, readonly [key: string, value: Value]>();
  readonly kind: 'hashtable' | 'ordered' | 'object';
  readonly isCaseSensitive: boolean;
  constructor(kind: Table['kind'] = 'hashtable', isCaseSensitive = false) {
    this.kind = kind;
    this.isCaseSensitive = isCaseSensitive;
  }
  #at = (key: string) => (this.isCaseSensitive ? key : key.toLowerCase());
  get = (key: string): Value => this.entries.get(this.#at(key))?.[1] ?? null;
  set = (key: string, value: Value) => {
    const at = this.#at(key);
    this.entries.set(at, [this.entries.get(at)?.[0] ?? key, value]);
  };
  has = (key: string): boolean => this.entries.has(this.#at(key));
  delete = (key: string): boolean => this.entries.delete(this.#at(key));
  get keys(): string[] {
    return [...this.entries.values()].map(([key]) => key);
  }
}

export type Method = (...args: Value[]) => Value;

/** An object of .NET: a method is a function, everything else is a property. */
export class NetObject {
  readonly type: string;
  readonly members: Record<string, Value>;
  constructor(type: string, members: Record<string, Value>) {
    this.type = type;
    this.members = members;
  }
}

/** Its types are what -is and Find-Exception ask for, the innermost class first. */
export class Exception extends NetObject {
  readonly types: readonly string[];
  constructor(types: string, message: string, inner: Exception | null = null, more: Record<string, Value> = {}) {
    const names = [...types.split(' '), 'Exception'];
    super(names[0]!, { Message: message, InnerException: inner, Data: new Table('hashtable', true), ...more });
    this.types = names;
    this.members['GetBaseException'] = () => innermost(this);
  }
}

function innermost(exception: Exception): Exception {
  const inner = exception.members['InnerException'];
  return inner instanceof Exception ? innermost(inner) : exception;
}

/** What `throw` throws, and what `$_` is in a catch block. */
export class Thrown extends Error {
  readonly exception: Exception;
  constructor(exception: Exception) {
    super(String(exception.members['Message']));
    this.exception = exception;
  }
}

export const throwNet = (types: string, message: string, more: Record<string, Value> = {}): never => {
  throw new Thrown(new Exception(types, message, null, more));
};

export class NetType {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class ScriptBlock {
  readonly node: SyntaxNode;
  constructor(node: SyntaxNode) {
    this.node = node;
  }
}

export const isArray = (value: Value): value is Value[] | Uint8Array =>
  Array.isArray(value) || value instanceof Uint8Array;

/** What a value is in a pipeline. */
export const enumerate = (value: Value): Value[] =>
  value === undefined ? [] : isArray(value) ? [...(value as Value[])] : [value];

/** What a variable gets from a pipeline. */
export const collapse = (values: readonly Value[]): Value =>
  values.length === 0 ? undefined : values.length === 1 ? values[0] : [...values];

export function isTrue(value: Value): boolean {
  if (isArray(value)) return value.length > 1 || (value.length === 1 && isTrue(value[0]));
  return value instanceof Object || Boolean(value);
}

export function toText(value: Value): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (isArray(value)) return [...(value as Value[])].map(toText).join(' ');
  if (value instanceof Table) return value.kind === 'object' ? '@{...}' : 'System.Collections.Hashtable';
  if (value instanceof NetObject) return value.type;
  if (value instanceof NetType) return value.name;
  return String(value);
}

export const sameText = (left: string, right: string, ignoreCase: boolean): boolean =>
  ignoreCase ? left.toLowerCase() === right.toLowerCase() : left === right;

/** Casts and the types of parameters. */
export function convert(value: Value, type: string): Value {
  switch (type.toLowerCase()) {
    case 'string':
      return toText(value);
    case 'bool':
      return isTrue(value);
    case 'int':
      return value === null || value === undefined ? 0 : toInteger(value);
    case 'double':
      return Number(value);
    case 'char':
      return typeof value === 'number' ? String.fromCharCode(value) : toText(value);
    case 'ordered':
    case 'type':
      return value;
    default:
      return /^(IO\.FileShare|Net\.Security|Text\.Regular|Microsoft\.Win32)/.test(type)
        ? toText(value)
        : unknownType(type);
  }
}

function toInteger(value: Value): number {
  const number = Math.round(Number(value));
  if (Number.isNaN(number)) throwNet('PSInvalidCastException', `Cannot convert "${toText(value)}" to int.`);
  return number;
}

function unknownType(type: string): never {
  throw new Error(`no cast to [${type}]`);
}
