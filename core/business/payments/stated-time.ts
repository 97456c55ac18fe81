/*
 * Times stated by a provider. They are accepted within bounds: a payment dated 2099 would close the books of 2099, and one dated 1970 those
 * of a year before the gateway existed.
 */

/** Returns epoch ms as the parameter of `statedTime`; null for a time that is missing, or that no database can store. */
export function epochOf(time: Date | undefined): number | null {
  const epoch = time?.getTime() ?? Number.NaN;
  return epoch > 0 ? epoch : null;
}

/**
 * Returns the SQL of a stated time. Its only parameter is `epochOf`.
 *
 * @param fallback SQL for a time that is missing or out of bounds
 * @param bounds SQL; default: from two years ago until now
 */
export function statedTime(
  fallback: string,
  {
    latest = 'clock_timestamp()',
    earliest = `clock_timestamp() - interval '2 years'`,
  }: { readonly latest?: string; readonly earliest?: string } = {},
): string {
  return `coalesce((select stated from (select to_timestamp(?::float8 / 1000) as stated) s
    where stated between ${earliest} and ${latest}), ${fallback})`;
}
