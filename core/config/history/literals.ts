import { createHmac } from 'node:crypto';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { GatewayDocument } from '../file/document.ts';
import { maskSecrets } from '../file/hide-secrets.ts';
import type { YamlPath } from '../section.ts';

interface Literal {
  readonly value: string;
  readonly begin: number;
  readonly end: number;
}

/** Schemas that mark secrets: of sections by name, and of the options of stages. */
export interface SecretSchemas {
  readonly sections: ReadonlyMap<string, { readonly schema: JsonSchema }>;
  readonly stages: ReadonlyMap<string, { readonly options: JsonSchema }>;
}

const mask = /"\*\*\*([\da-f]{16})"/g;

/** Finds literal secrets of a file, in order. In sections without a schema, no secrets are known. */
export function findLiterals(document: GatewayDocument, schemas: SecretSchemas): Literal[] {
  const values = document.values();
  const paths = Object.entries(values).flatMap(([name, value]) => {
    if (name !== 'pipeline') return secretPaths(value, schemas.sections.get(name)?.schema, [name]);
    const stages = Array.isArray(value) ? value : [];
    return stages.flatMap((stage: unknown, index) =>
      Object.entries(typeof stage === 'object' && stage !== null ? stage : {}).flatMap(([key, options]) =>
        secretPaths(options, schemas.stages.get(key)?.options, [name, index, key]),
      ),
    );
  });
  return paths.flatMap((path) => document.literals(path)).toSorted((first, second) => first.begin - second.begin);
}

function secretPaths(value: unknown, schema: JsonSchema | undefined, path: YamlPath): YamlPath[] {
  return changedPaths(value, maskSecrets(value, schema), path);
}

function changedPaths(value: unknown, masked: unknown, path: YamlPath): YamlPath[] {
  if (value === masked) return [];
  if (typeof value !== 'object' || value === null || typeof masked !== 'object' || masked === null) return [path];
  return Object.entries(value).flatMap(([name, member]) =>
    changedPaths(member, (masked as Readonly<Record<string, unknown>>)[name], [
      ...path,
      Array.isArray(value) ? Number(name) : name,
    ]),
  );
}

/** Replaces each secret in the text by a digest, by which the secret can be found again. */
export function maskLiterals(text: string, literals: readonly Literal[], secret: string): string {
  let masked = '';
  let at = 0;
  for (const { begin, end, value } of literals) {
    const lineEnd = text.slice(begin, end).endsWith('\n') ? '\n' : '';
    masked += `${text.slice(at, begin)}"***${digestOf(value, secret)}"${lineEnd}`;
    at = end;
  }
  return masked + text.slice(at);
}

/**
 * Restores the secrets of a text that the current file still has.
 *
 * @returns `missing`: the lines of the other secrets, counted from 1
 */
export function fillLiterals(
  masked: string,
  literals: readonly Literal[],
  secret: string,
): { readonly text: string; readonly missing: readonly number[] } {
  const known = new Map(literals.map(({ value }) => [digestOf(value, secret), value]));
  const missing: number[] = [];
  const text = masked.replace(mask, (match, digest: string, offset: number) => {
    const value = known.get(digest);
    if (value !== undefined) return JSON.stringify(value);
    missing.push(masked.slice(0, offset).split('\n').length);
    return match;
  });
  return { text, missing };
}

function digestOf(value: string, secret: string): string {
  return createHmac('sha256', secret).update(value).digest('hex').slice(0, 16);
}
