import { createHmac } from 'node:crypto';
import type { JsonSchema } from '#core/platform/schema.ts';
import type { GatewayDocument } from '../file/document.ts';
import { maskSecrets } from '../file/hide-secrets.ts';
import type { YamlPath } from '../section.ts';

interface Literal {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** The schemas that say which values are secrets: those of sections and of stage options. */
export interface SecretSchemas {
  readonly sections: ReadonlyMap<string, { readonly schema: JsonSchema }>;
  readonly stages: ReadonlyMap<string, { readonly options: JsonSchema }>;
}

const maskPattern = /"\*\*\*([\da-f]{16})"/g;

/** Finds the secrets that a file contains literally, in order. In sections without a schema, no secrets are known. */
export function findLiterals(document: GatewayDocument, schemas: SecretSchemas): Literal[] {
  const values = document.values();
  const paths = Object.entries(values).flatMap(([name, value]) => {
    if (name !== 'pipeline') return findSecretPaths(value, schemas.sections.get(name)?.schema, [name]);
    const stages = Array.isArray(value) ? value : [];
    return stages.flatMap((stage: unknown, index) =>
      Object.entries(typeof stage === 'object' && stage !== null ? stage : {}).flatMap(([key, options]) =>
        findSecretPaths(options, schemas.stages.get(key)?.options, [name, index, key]),
      ),
    );
  });
  return paths.flatMap((path) => document.listLiterals(path)).toSorted((first, second) => first.start - second.start);
}

function findSecretPaths(value: unknown, schema: JsonSchema | undefined, path: YamlPath): YamlPath[] {
  return findChangedPaths(value, maskSecrets(value, schema), path);
}

function findChangedPaths(value: unknown, masked: unknown, path: YamlPath): YamlPath[] {
  if (value === masked) return [];
  if (typeof value !== 'object' || value === null || typeof masked !== 'object' || masked === null) return [path];
  return Object.entries(value).flatMap(([name, member]) =>
    findChangedPaths(member, (masked as Readonly<Record<string, unknown>>)[name], [
      ...path,
      Array.isArray(value) ? Number(name) : name,
    ]),
  );
}

/** Replaces each secret in the text with a digest, from which `fillLiterals` can recognize the secret. */
export function maskLiterals(text: string, literals: readonly Literal[], secret: string): string {
  let masked = '';
  let position = 0;
  for (const { start, end, value } of literals) {
    const lineEnd = text.slice(start, end).endsWith('\n') ? '\n' : '';
    masked += `${text.slice(position, start)}"***${computeDigest(value, secret)}"${lineEnd}`;
    position = end;
  }
  return masked + text.slice(position);
}

/**
 * Restores those secrets in a text that the current file still contains.
 *
 * @returns the text, and the lines (from 1) of the secrets that the file no longer contains
 */
export function fillLiterals(
  masked: string,
  literals: readonly Literal[],
  secret: string,
): { readonly text: string; readonly missingLines: readonly number[] } {
  const valueByDigest = new Map(literals.map(({ value }) => [computeDigest(value, secret), value]));
  const missingLines: number[] = [];
  const text = masked.replace(maskPattern, (match, digest: string, offset: number) => {
    const value = valueByDigest.get(digest);
    if (value !== undefined) return JSON.stringify(value);
    missingLines.push(masked.slice(0, offset).split('\n').length);
    return match;
  });
  return { text, missingLines: missingLines };
}

function computeDigest(value: string, secret: string): string {
  return createHmac('sha256', secret).update(value).digest('hex').slice(0, 16);
}
