import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { notAFolder } from '../../.ci/deletion-rules.ts';

const root = join(import.meta.dirname, '..', '..');
const table = parse(readFileSync(join(root, '.ci', 'deletion.yaml'), 'utf8')) as Readonly<Record<string, unknown>>;

/**
 * Capabilities that can be deleted, and are: the documentation still describes them. `docs:configuration` writes its pages without them,
 * and forgets whose sections theirs were.
 */
export const absentCapabilities: readonly string[] = Object.keys(table).filter(
  (name) => table[name] !== notAFolder && !existsSync(join(root, 'plugins', name)),
);

/** True for the folders of such a capability, and for what was below them. */
export function isAbsent(path: string): boolean {
  return absentCapabilities.some((name) => /^(?:test\/)?(?:plugins|views)\/([\w-]+)/.exec(path)?.[1] === name);
}
