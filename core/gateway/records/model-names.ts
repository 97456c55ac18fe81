import type { Host } from '../host/host.ts';

/** Finds the recorded name of a model: of the catalog, by any of its names, or of a previous model with usage. */
export async function findModelName(
  { catalog, database }: Pick<Host, 'catalog' | 'database'>,
  name: string,
): Promise<string | undefined> {
  const found = catalog.resolve(name);
  if (found !== undefined) return found.publicName;
  const [known] = await database.query<{ model: string }>(
    `SELECT model FROM (SELECT model FROM usage_total UNION ALL SELECT model FROM usage_delta) AS used
     WHERE model = ? LIMIT 1`,
    [name],
  );
  return known?.model;
}
