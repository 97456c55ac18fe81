/*
 * Times stated by a provider. They are accepted only within bounds: a payment dated 2099 would close the books of 2099, and one dated 1970
 * would close the books of a year before the gateway existed.
 */

/** Converts a time to epoch ms, the parameter of `statedTimeSql`; null if the time is missing or cannot be represented. */
export function toEpoch(time: Date | undefined): number | null {
  const epoch = time?.getTime() ?? Number.NaN;
  return epoch > 0 ? epoch : null;
}

/**
 * Returns an SQL expression for a stated time. Its only parameter is the result of `toEpoch`.
 *
 * @param fallback SQL for a time that is missing or out of bounds
 * @param bounds SQL; default: from two years ago until now
 */
export function statedTimeSql(
  fallback: string,
  {
    latest = 'clock_timestamp()',
    earliest = `clock_timestamp() - interval '2 years'`,
  }: { readonly latest?: string; readonly earliest?: string } = {},
): string {
  return `coalesce((select stated from (select to_timestamp(?::float8 / 1000) as stated) s
    where stated between ${earliest} and ${latest}), ${fallback})`;
}
