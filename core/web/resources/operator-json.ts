const amountMembers = new Set(['amount', 'price', 'fee', 'revenue', 'statedAmount']); // in the smallest unit of the `currency` next to them

/**
 * Converts a value to the JSON that commands, the operator API and alerts use: members in snake_case, times as RFC 3339, null for
 * undefined, and next to each amount a member `NAME_money: { amount, currency }`.
 *
 * @param hasFormerNames true to include the deprecated camelCase names from before 0.6; remove in 0.7
 */
export function toOperatorJson(value: unknown, hasFormerNames = false): unknown {
  if (Array.isArray(value)) return value.map((member) => toOperatorJson(member, hasFormerNames));
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (value instanceof Date) return value;
  const entries = Object.entries(value);
  const currency = isMoney(entries) ? undefined : entries.find(([name]) => name === 'currency')?.[1];
  const members = entries.flatMap(([name, member]): [name: string, json: unknown][] => {
    const json = toOperatorJson(member, hasFormerNames);
    const snakeName = toSnakeCase(name);
    return [
      [snakeName, json],
      ...(currency !== undefined && amountMembers.has(name)
        ? [[`${snakeName}_money`, member === undefined ? null : { amount: member, currency }] as [string, unknown]]
        : []),
      ...(hasFormerNames && name !== snakeName && member !== undefined ? [[name, json] as [string, unknown]] : []),
    ];
  });
  return Object.fromEntries(members);
}

function isMoney(members: readonly (readonly [name: string, value: unknown])[]): boolean {
  return members.length === 2 && members.every(([name]) => name === 'amount' || name === 'currency');
}

/** Converts member names. Keys that name models, routes or countries stay as they are. */
export function toSnakeCase(name: string): string {
  if (!/^[a-z][\dA-Za-z]*$/.test(name)) return name;
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
