import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type DeletionTable, notAFolder, rowsOf } from '../../.ci/deletion-rules.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const table = rowsOf(parse(read('.ci/deletion.yaml')) as DeletionTable, read('docs/architecture.md'));

/**
 * Capabilities that can be deleted, and are: the documentation still describes them. `docs:configuration` writes its pages without them,
 * and forgets whose sections theirs were.
 */
export const absentCapabilities: readonly string[] = Object.keys(table).filter(
  (name) => table[name] !== notAFolder && !existsSync(join(root, 'plugins', name)),
);

/** What is deleted with them besides. */
const others = absentCapabilities.flatMap((name) => {
  const row = table[name];
  return typeof row === 'object' ? (row.of ?? []) : [];
});

/** True for what belongs to such a capability, and for what was below its folders. */
export function isAbsent(path: string): boolean {
  const [, name = ''] = /^(?:test\/)?(?:plugins|views)\/([\w-]+)/.exec(path) ?? [];
  return absentCapabilities.includes(name) || others.some((one) => `${path}/`.startsWith(`${one}/`));
}
