import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';

const root = join(import.meta.dirname, '..');

export function sampleWithout(paths: readonly (readonly string[])[]): string {
  const sample = parseDocument(readFileSync(join(root, 'gateway.yaml'), 'utf8'));
  for (const path of paths) sample.deleteIn(path);
  return sample.toString();
}

/** Adds a section from the example of all sections. */
export function sampleWith(section: string, paths: readonly (readonly string[])[]): string {
  const example = parseDocument(readFileSync(join(root, '.ci', 'configuration-example.yaml'), 'utf8'));
  const sample = parseDocument(sampleWithout(paths));
  sample.set(section, example.get(section, true));
  return sample.toString();
}
