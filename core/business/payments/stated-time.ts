/*
 * Times that a provider states. They are believed within bounds: a payment of 2099 would close the books of 2099, and one of
 * 1970 those of a year before the gateway.
 */

/** Ms since 1970 as a parameter of `statedTime`; null for a time that is missing, or that no database can store. */
export function epochOf(time: Date | undefined): number | null {
  const epoch = time?.getTime() ?? Number.NaN;
  return epoch > 0 ? epoch : null;
}

/**
 * SQL of a stated time, whose one parameter is `epochOf`.
 *
 * @param otherwise SQL that takes its place when it is missing, or outside of these bounds
 * @param bounds SQL; until now, and from two years ago on
 */
export function statedTime(
  otherwise: string,
  {
    latest = 'clock_timestamp()',
    earliest = `clock_timestamp() - interval '2 years'`,
  }: { readonly latest?: string; readonly earliest?: string } = {},
): string {
  return `coalesce((select stated from (select to_timestamp(?::float8 / 1000) as stated) s
    where stated between ${earliest} and ${latest}), ${otherwise})`;
}
