import type { JsonSchema } from '#core/platform/schema.ts';
import type { Interpolated } from './interpolate.ts';

/** Shorter values are not masked: they would match parts of ordinary words. */
const minSecretLength = 3;

/**
 * Messages quote values. The value of a variable may be a secret, so the message quotes the text with the variable instead, even
 * if a third-party error contains the value without quotes.
 */
export function hideVariables(words: string, written: string, filled: Interpolated['filled']): string {
  const quoted = words.replace(/".*"/s, () => JSON.stringify(written));
  return filled
    .filter(({ value }) => value.length >= minSecretLength)
    .toSorted((a, b) => b.value.length - a.value.length) // A shorter value may be part of a longer one.
    .reduce((text, { written: name, value }) => text.replaceAll(value, () => name), quoted);
}

/** Returns true if values of this schema are or contain secrets (`writeOnly`): even a value of the wrong type may be a secret. */
export function mayHoldSecret(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false;
  const { writeOnly, properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  const members = [...Object.values(properties), ...anyOf, ...oneOf, ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === 'object') members.push(additionalProperties);
  return writeOnly === true || members.some(mayHoldSecret);
}

/** Returns a copy of a value with asterisks in place of the secrets that the schema marks. */
export function maskSecrets(value: unknown, schema: JsonSchema | undefined): unknown {
  if (schema === undefined || !mayHoldSecret(schema) || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, schema.items ?? schema));
  const { properties = {}, additionalProperties } = schema;
  if (typeof value !== 'object' || schema.writeOnly === true) return '***';
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const alternatives = schema.anyOf ?? schema.oneOf;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      maskSecrets(member, alternatives === undefined ? (properties[name] ?? others) : { writeOnly: true }),
    ]),
  );
}

/** Returns the strings of a value that its schema marks as secret. */
export function secretsIn(value: unknown, schema: JsonSchema | undefined): string[] {
  const shown = new Set(textsIn(maskSecrets(value, schema)));
  return textsIn(value).filter((text) => !shown.has(text));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Removes user, password and query from a URL, even a malformed one. Other texts stay. */
export function hideCredentials(text: string): string {
  return /:\/\//.test(text) ? text.replace(/:\/\/[^/?#]*@/, '://…@').replace(/\?.*$/s, '?…') : text;
}
