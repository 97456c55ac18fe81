/** Members that are amounts in the smallest unit of the `currency` next to them. */
const amounts = new Set(['amount', 'price', 'fee', 'revenue', 'statedAmount']);

/**
 * A value as operators' programs read it, from commands, the operator's API and alerts: members in snake_case, times as RFC 3339, null for
 * undefined, and next to each amount its `NAME_money: { amount, currency }`.
 *
 * @param hasFormerNames true: also writes the camelCase names that a command printed before 0.6, until 0.7
 */
export function toOperatorJson(value: unknown, hasFormerNames = false): unknown {
  if (Array.isArray(value)) return value.map((member) => toOperatorJson(member, hasFormerNames));
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Date) return value;
  const members = Object.entries(value);
  const currency = isMoney(members) ? undefined : members.find(([name]) => name === 'currency')?.[1];
  const written = members.flatMap(([name, member]): [name: string, json: unknown][] => {
    const json = toOperatorJson(member, hasFormerNames);
    const ownName = snakeCase(name);
    return [
      [ownName, json],
      ...(currency !== undefined && amounts.has(name)
        ? [[`${ownName}_money`, member === undefined ? null : { amount: member, currency }] as [string, unknown]]
        : []),
      ...(hasFormerNames && name !== ownName && member !== undefined ? [[name, json] as [string, unknown]] : []),
    ];
  });
  return Object.fromEntries(written);
}

/** True for `{ amount, currency }`. */
function isMoney(members: readonly (readonly [name: string, value: unknown])[]): boolean {
  return members.length === 2 && members.every(([name]) => name === 'amount' || name === 'currency');
}

/** Converts the names of members only: keys that name models, routes or countries do not change. */
export function snakeCase(name: string): string {
  if (!/^[a-z][\dA-Za-z]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
