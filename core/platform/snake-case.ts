/** Names of members as JSON of ours has them. Values of maps keep theirs: there are none in what is read. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), toSnakeCase(member)]));
}

/** Some members under such names, in this order; null for one that is undefined. */
export function writeMembers<T extends object>(entry: T, ...names: readonly (keyof T & string)[]): object {
  return Object.fromEntries(names.map((name) => [snakeCase(name), entry[name] ?? null]));
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
