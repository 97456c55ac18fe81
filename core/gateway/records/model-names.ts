import type { Host } from '../host/host.ts';

/** Finds a model's name in the records by any of its names in the catalog. Also finds removed models that have usage. */
export async function findModelName(
  { catalog, database }: Pick<Host, 'catalog' | 'database'>,
  name: string,
): Promise<string | undefined> {
  const model = catalog.resolve(name);
  if (model !== undefined) return model.publicName;
  const [row] = await database.query<{ model: string }>(
    `SELECT model FROM (SELECT model FROM usage_total UNION ALL SELECT model FROM usage_delta) AS used
     WHERE model = ? LIMIT 1`,
    [name],
  );
  return row?.model;
}
