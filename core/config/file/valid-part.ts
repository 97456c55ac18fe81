import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { YamlPath } from '../section.ts';
import { parsePointer } from './explain.ts';

/** The part of a section that matches its schema. Rules that compare fields are applied to it even if the rest has mistakes. */
export interface ValidPart {
  readonly value: unknown; // without unknown keys and, if it is a map of entries, without invalid entries
  /** Names of all entries in a map, even of invalid ones; undefined if one of the names is invalid. */
  readonly names: readonly string[] | undefined;
  /** Maps from which an unknown key was removed. The key may be a misspelling of a member that now seems to be missing. */
  readonly strippedMaps: readonly YamlPath[];
}

/**
 * @param value the section; modified in place
 * @param errors its errors, without those about alternatives of another type
 */
export function findValidPart(value: unknown, errors: readonly ErrorObject[], schema: JsonSchema): ValidPart {
  const isMap = isMapOfEntries(schema) && typeof value === 'object' && value !== null && !Array.isArray(value);
  const hasBadName = errors.some(
    ({ keyword, instancePath }) => keyword === 'propertyNames' && countPathParts(instancePath) === 0,
  );
  const names = isMap && !hasBadName ? Object.keys(value) : undefined;
  const strippedMaps: YamlPath[] = [];
  const invalidEntries = new Set<string>();
  let isInvalid = false;
  for (const { keyword, instancePath, params } of errors) {
    const path = parseSectionPath(instancePath);
    if (keyword === 'additionalProperties') {
      Reflect.deleteProperty(findMember(value, path), String(params['additionalProperty']));
      strippedMaps.push(path);
    } else if (isMap && path.length > 0) {
      invalidEntries.add(String(path[0]));
    } else if (isMap && keyword === 'propertyNames') {
      invalidEntries.add(String(params['propertyName']));
    } else {
      isInvalid = true;
    }
  }
  // Invalid entries are removed last, because the paths of other errors may lead through these entries.
  if (isMap) for (const name of invalidEntries) Reflect.deleteProperty(value, name);
  return { value: isInvalid ? undefined : value, names, strippedMaps };
}

function isMapOfEntries({ properties, additionalProperties }: JsonSchema): boolean {
  return properties === undefined && typeof additionalProperties === 'object';
}

function parseSectionPath(instancePath: string): YamlPath {
  // The first part is the key of the object that wraps the validated value.
  return parsePointer(instancePath).slice(1);
}

function countPathParts(instancePath: string): number {
  return parseSectionPath(instancePath).length;
}

function findMember(value: unknown, path: YamlPath): object {
  return path.reduce<unknown>((node, part) => (node as Record<string | number, unknown>)[part], value) as object;
}
