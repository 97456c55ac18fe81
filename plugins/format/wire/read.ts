import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

type Value = JsonValue | undefined;

export function invalidValue(path: string, expected: string): GatewayError {
  return new GatewayError('invalid_request', `\`${path}\` must be ${expected}.`, { param: path });
}

export function isMissing(value: Value): value is null | undefined {
  return value === undefined || value === null;
}

/** @throws GatewayError `invalid_request` */
export function maybeInteger(value: Value, path: string, minimum = 0, maximum = 1_000_000_000): number | undefined {
  if (isMissing(value)) return undefined;
  if (typeof value !== 'number' || value < minimum || value > maximum) {
    throw invalidValue(path, `a number from ${minimum} to ${maximum}`);
  }
  if (!Number.isInteger(value)) throw invalidValue(path, `an integer from ${minimum}`);
  return value;
}

interface Holder {
  pathOf(name: string): string;
  place<U extends object>(name: string, value: Value, index: number): BodyObject<U>;
}

/**
 * An object in a client's body, and its path. The methods read members: `null` counts as missing, and a wrong type throws GatewayError
 * `invalid_request` with the member's path.
 *
 * @template T type that declares which members there may be
 */
export class BodyObject<T extends object = JsonObject> {
  readonly value: T;
  readonly #key: string;
  readonly #holder: Holder | undefined;
  readonly #index: number | undefined;

  /**
   * Builds paths only when they are needed, because most never are.
   *
   * @param key path, empty for the body itself; with a holder, the name of the holder's member
   * @param index position in the member, if that is a list
   */
  constructor(value: T, key = '', holder?: Holder, index?: number) {
    this.value = value;
    this.#key = key;
    this.#holder = holder;
    this.#index = index;
  }

  get path(): string {
    if (this.#holder === undefined) return this.#key;
    const path = this.#holder.pathOf(this.#key);
    return this.#index === undefined ? path : `${path}[${this.#index}]`;
  }

  pathOf(name: keyof T & string): string {
    const { path } = this;
    return path === '' ? name : `${path}.${name}`;
  }

  get(name: keyof T & string): Value {
    return this.value[name] as Value;
  }

  isMissing(name: keyof T & string): boolean {
    return isMissing(this.get(name));
  }

  text(name: keyof T & string): string {
    const value = this.get(name);
    if (typeof value !== 'string') throw invalidValue(this.pathOf(name), 'a string');
    return value;
  }

  filledText(name: keyof T & string, expected = 'a non-empty string'): string {
    const text = this.text(name);
    if (text === '') throw invalidValue(this.pathOf(name), expected);
    return text;
  }

  maybeText(name: keyof T & string): string | undefined {
    const value = this.get(name);
    if (isMissing(value)) return undefined;
    if (typeof value !== 'string') throw invalidValue(this.pathOf(name), 'a string');
    return value;
  }

  maybeBoolean(name: keyof T & string): boolean | undefined {
    const value = this.get(name);
    if (isMissing(value)) return undefined;
    if (typeof value !== 'boolean') throw invalidValue(this.pathOf(name), 'true or false');
    return value;
  }

  maybeInteger(name: keyof T & string, minimum?: number): number | undefined {
    const value = this.get(name);
    return isMissing(value) ? undefined : maybeInteger(value, this.pathOf(name), minimum);
  }

  object<U extends object = JsonObject>(name: keyof T & string): BodyObject<U> {
    return this.place(name, this.get(name));
  }

  maybeObject<U extends object = JsonObject>(name: keyof T & string): BodyObject<U> | undefined {
    const value = this.get(name);
    return isMissing(value) ? undefined : this.place(name, value);
  }

  list(name: keyof T & string): readonly JsonValue[] {
    const value = this.get(name);
    if (!Array.isArray(value)) throw invalidValue(this.pathOf(name), 'a list');
    return value;
  }

  /** Iterates over a list's entries; empty if the list is missing. Each entry is checked when it is reached. */
  objects<U extends object = JsonObject>(name: keyof T & string): IteratorObject<BodyObject<U>> {
    return new EntryIterator<U>(this, name, this.isMissing(name) ? [] : this.list(name));
  }

  /** Wraps a value as a member, or as an entry of a member that is a list, so that errors name its path. */
  place<U extends object = JsonObject>(name: keyof T & string, value: Value, index?: number): BodyObject<U> {
    if (isJsonObject(value)) return new BodyObject(value as U, name, this, index);
    throw invalidValue(new BodyObject({}, name, this, index).path, 'an object');
  }

  texts(name: keyof T & string): readonly string[] {
    const value = this.get(name);
    if (isMissing(value)) return [];
    if (typeof value === 'string') return [value];
    return this.list(name).map((entry, index) => {
      if (typeof entry !== 'string') throw invalidValue(`${this.pathOf(name)}[${index}]`, 'a string');
      return entry;
    });
  }
}

/** Iterates over a list's entries. A generator would be measurably slower for histories of hundreds of messages. */
export class EntryIterator<U extends object> extends Iterator<BodyObject<U>> {
  readonly #holder: Holder;
  readonly #name: string;
  readonly #list: readonly JsonValue[];
  readonly #read: ((entry: Value) => Value) | undefined;
  #index = 0;

  /** @param read converts an entry when it is reached; by default, entries are used unchanged */
  constructor(holder: Holder, name: string, list: readonly JsonValue[], read?: (entry: Value) => Value) {
    super();
    this.#holder = holder;
    this.#name = name;
    this.#list = list;
    this.#read = read;
  }

  next(): IteratorResult<BodyObject<U>, undefined> {
    const index = this.#index++;
    if (index >= this.#list.length) return { done: true, value: undefined };
    const entry = this.#list[index];
    const value = this.#read === undefined ? entry : this.#read(entry);
    return { done: false, value: this.#holder.place(this.#name, value, index) };
  }
}
