import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '#core/platform/schema.ts';
import { parsePointer } from './explain.ts';
import type { YamlPath } from '../section.ts';

/** The part of a section that satisfies its schema, so that rules across fields apply in spite of other mistakes. */
export interface ValidPart {
  /** The value without unknown keys and, in a map of entries, without invalid entries. */
  readonly value: unknown;
  /** Names of all entries of a map, including invalid entries; undefined if one of the names is invalid. */
  readonly names: readonly string[] | undefined;
  /** Maps from which an unknown key was removed: it may have been meant for a member that seems missing. */
  readonly stripped: readonly YamlPath[];
}

/**
 * Finds the part of a section that is valid despite its errors.
 *
 * @param value a section; modified in place
 * @param errors its errors, without those of alternatives of another type
 */
export function findValidPart(value: unknown, errors: readonly ErrorObject[], schema: JsonSchema): ValidPart {
  const isMap = isMapOfEntries(schema) && typeof value === 'object' && value !== null && !Array.isArray(value);
  const hasBadName = errors.some(
    ({ keyword, instancePath }) => keyword === 'propertyNames' && depthOf(instancePath) === 0,
  );
  const names = isMap && !hasBadName ? Object.keys(value) : undefined;
  const stripped: YamlPath[] = [];
  const wrongEntries = new Set<string>();
  let isLost = false;
  for (const { keyword, instancePath, params } of errors) {
    const path = pathInSection(instancePath);
    if (keyword === 'additionalProperties') {
      Reflect.deleteProperty(memberAt(value, path), String(params['additionalProperty']));
      stripped.push(path);
    } else if (isMap && path.length > 0) wrongEntries.add(String(path[0]));
    else if (isMap && keyword === 'propertyNames') wrongEntries.add(String(params['propertyName']));
    else isLost = true;
  }
  // Last, because the paths of other errors may lead through them.
  if (isMap) for (const name of wrongEntries) Reflect.deleteProperty(value, name);
  return { value: isLost ? undefined : value, names, stripped };
}

function isMapOfEntries({ properties, additionalProperties }: JsonSchema): boolean {
  return properties === undefined && typeof additionalProperties === 'object';
}

/** The validated value is wrapped in an object, whose key the path begins with. */
function pathInSection(instancePath: string): YamlPath {
  return parsePointer(instancePath).slice(1);
}

function depthOf(instancePath: string): number {
  return pathInSection(instancePath).length;
}

function memberAt(value: unknown, path: YamlPath): object {
  return path.reduce<unknown>((node, part) => (node as Record<string | number, unknown>)[part], value) as object;
}
