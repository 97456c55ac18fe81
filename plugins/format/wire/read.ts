import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';

type Value = JsonValue | undefined;

/** @throws GatewayError `invalid_request` */
export function invalid(path: string, expected: string): GatewayError {
  return new GatewayError('invalid_request', `\`${path}\` must be ${expected}.`, { param: path });
}

export function isMissing(value: Value): value is null | undefined {
  return value === undefined || value === null;
}

export function maybeInteger(value: Value, path: string, minimum = 0, maximum = 1_000_000_000): number | undefined {
  if (isMissing(value)) return undefined;
  if (typeof value !== 'number' || value < minimum || value > maximum) {
    throw invalid(path, `a number from ${minimum} to ${maximum}`);
  }
  if (!Number.isInteger(value)) throw invalid(path, `an integer from ${minimum}`);
  return value;
}

/**
 * An object of a client's body and its path. A member of a wrong type is refused by the path of the member; `null` counts as missing.
 *
 * @template T says which members the object may have
 */
export class Placed<T extends object = JsonObject> {
  readonly value: T;
  readonly path: string;

  /** @param path empty for the body itself */
  constructor(value: T, path = '') {
    this.value = value;
    this.path = path;
  }

  /** @throws GatewayError `invalid_request` if the value is not an object, as do all readers of this class */
  static of<U extends object = JsonObject>(value: Value, path: string): Placed<U> {
    if (!isJsonObject(value)) throw invalid(path, 'an object');
    return new Placed(value as U, path);
  }

  /** The path of a member. */
  at(name: keyof T & string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  get(name: keyof T & string): Value {
    return this.value[name] as Value;
  }

  isMissing(name: keyof T & string): boolean {
    return isMissing(this.get(name));
  }

  text(name: keyof T & string): string {
    const value = this.get(name);
    if (typeof value !== 'string') throw invalid(this.at(name), 'a string');
    return value;
  }

  filled(name: keyof T & string, expected = 'a non-empty string'): string {
    const text = this.text(name);
    if (text === '') throw invalid(this.at(name), expected);
    return text;
  }

  maybeText(name: keyof T & string): string | undefined {
    return this.isMissing(name) ? undefined : this.text(name);
  }

  maybeBoolean(name: keyof T & string): boolean | undefined {
    const value = this.get(name);
    if (isMissing(value)) return undefined;
    if (typeof value !== 'boolean') throw invalid(this.at(name), 'true or false');
    return value;
  }

  maybeInteger(name: keyof T & string, minimum?: number): number | undefined {
    return maybeInteger(this.get(name), this.at(name), minimum);
  }

  object<U extends object = JsonObject>(name: keyof T & string): Placed<U> {
    return Placed.of(this.get(name), this.at(name));
  }

  maybeObject<U extends object = JsonObject>(name: keyof T & string): Placed<U> | undefined {
    return this.isMissing(name) ? undefined : this.object(name);
  }

  list(name: keyof T & string): readonly JsonValue[] {
    const value = this.get(name);
    if (!Array.isArray(value)) throw invalid(this.at(name), 'a list');
    return value;
  }

  /** The entries of a list, each of which is checked when it is reached; none when the list is missing. */
  *objects<U extends object = JsonObject>(name: keyof T & string): Generator<Placed<U>, void> {
    if (this.isMissing(name)) return;
    for (const [index, entry] of this.list(name).entries()) yield Placed.of(entry, `${this.at(name)}[${index}]`);
  }

  /** A string or a list of them; empty when it is missing. */
  texts(name: keyof T & string): readonly string[] {
    const value = this.get(name);
    if (isMissing(value)) return [];
    if (typeof value === 'string') return [value];
    return this.list(name).map((entry, index) => {
      if (typeof entry !== 'string') throw invalid(`${this.at(name)}[${index}]`, 'a string');
      return entry;
    });
  }
}
