import type { JsonSchema } from '#core/platform/schema.ts';
import type { Interpolated } from './interpolate.ts';

const minSecretLength = 3; // shorter values would match parts of ordinary words

/**
 * Replaces the values of variables in a message with their source text in the file, because they may be secrets. Also finds unquoted values
 * in errors from third-party code.
 */
export function hideVariables(message: string, written: string, variables: Interpolated['variables']): string {
  const quoted = message.replace(/".*"/s, () => JSON.stringify(written));
  return variables
    .filter(({ value }) => value.length >= minSecretLength)
    .toSorted((a, b) => b.value.length - a.value.length) // A shorter value may be part of a longer one.
    .reduce((text, { written: name, value }) => text.replaceAll(value, () => name), quoted);
}

/** Returns true if values of this schema are or contain secrets (`writeOnly`). Then even a value of the wrong type may be a secret. */
export function canContainSecret(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false;
  const { writeOnly, properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  const members = [...Object.values(properties), ...anyOf, ...oneOf, ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === 'object') members.push(additionalProperties);
  return writeOnly === true || members.some(canContainSecret);
}

/** Returns a copy of a value in which the secrets that the schema marks are asterisks. */
export function maskSecrets(value: unknown, schema: JsonSchema | undefined): unknown {
  if (schema === undefined || !canContainSecret(schema) || value === null) return value;
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

export function collectSecrets(value: unknown, schema: JsonSchema | undefined): string[] {
  const maskedTexts = new Set(collectTexts(maskSecrets(value, schema)));
  return collectTexts(value).filter((text) => !maskedTexts.has(text));
}

function collectTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(collectTexts) : [];
}

/** Removes user, password and query from a URL, even a malformed one. Returns other texts unchanged. */
export function hideCredentials(text: string): string {
  return /:\/\//.test(text) ? text.replace(/:\/\/[^/?#]*@/, '://…@').replace(/\?.*$/s, '?…') : text;
}
