import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { notAFolder } from '../../.ci/deletion-rules.ts';

const root = join(import.meta.dirname, '..', '..');
const table = parse(readFileSync(join(root, '.ci', 'deletion.yaml'), 'utf8')) as Readonly<
  Record<string, string | { readonly of?: readonly string[] }>
>;

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
