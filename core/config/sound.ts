import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../schema.ts';
import { parsePointer } from './explain.ts';
import type { YamlPath } from './section.ts';

/** What of a section satisfies its schema, so that the rest of its mistakes can be found with the first. */
export interface Sound {
  /** Without unknown keys and, of a map of entries, without the entries that something else is wrong with. */
  readonly value: unknown;
  /** Names of the entries of a map, those that were left out too; undefined when one of them is no name. */
  readonly names: readonly string[] | undefined;
  /** Maps that an unknown key was taken out of: what they seem to lack may be what it was meant for. */
  readonly bereft: readonly YamlPath[];
}

/**
 * @param value a section; changed
 * @param errors what is wrong with it, without those of alternatives that were not meant
 */
export function findSound(value: unknown, errors: readonly ErrorObject[], schema: JsonSchema): Sound {
  const isMap = isMapOfEntries(schema) && typeof value === 'object' && value !== null && !Array.isArray(value);
  const hasBadName = errors.some(
    ({ keyword, instancePath }) => keyword === 'propertyNames' && depthOf(instancePath) === 0,
  );
  const names = isMap && !hasBadName ? Object.keys(value) : undefined;
  const bereft: YamlPath[] = [];
  const wrongEntries = new Set<string>();
  let isLost = false;
  for (const { keyword, instancePath, params } of errors) {
    const path = pathInSection(instancePath);
    if (keyword === 'additionalProperties') {
      Reflect.deleteProperty(memberAt(value, path), String(params['additionalProperty']));
      bereft.push(path);
    } else if (isMap && path.length > 0) wrongEntries.add(String(path[0]));
    else if (isMap && keyword === 'propertyNames') wrongEntries.add(String(params['propertyName']));
    else isLost = true;
  }
  // Only now: the paths of further mistakes may lead through them.
  if (isMap) for (const name of wrongEntries) Reflect.deleteProperty(value, name);
  return { value: isLost ? undefined : value, names, bereft };
}

function isMapOfEntries({ properties, additionalProperties }: JsonSchema): boolean {
  return properties === undefined && typeof additionalProperties === 'object';
}

/** The section itself stands in a box, under one key. */
function pathInSection(instancePath: string): YamlPath {
  return parsePointer(instancePath).slice(1);
}

function depthOf(instancePath: string): number {
  return pathInSection(instancePath).length;
}

function memberAt(value: unknown, path: YamlPath): object {
  return path.reduce<unknown>((node, part) => (node as Record<string | number, unknown>)[part], value) as object;
}
