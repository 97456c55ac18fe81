import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';

const root = join(import.meta.dirname, '..');

/** Returns the sample gateway.yaml without the values at some paths. */
export function sampleWithout(paths: readonly (readonly string[])[]): string {
  const sample = parseDocument(readFileSync(join(root, 'gateway.yaml'), 'utf8'));
  for (const path of paths) sample.deleteIn(path);
  return sample.toString();
}

/** The same, with a section added as the example of all sections has it. */
export function sampleWith(section: string, paths: readonly (readonly string[])[]): string {
  const example = parseDocument(readFileSync(join(root, '.ci', 'configuration-example.yaml'), 'utf8'));
  const sample = parseDocument(sampleWithout(paths));
  sample.set(section, example.get(section, true));
  return sample.toString();
}
