/** Licenses that allow selling a service and shipping the code, on the sole condition that their notice is kept. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'Python-2.0',
  'Unlicense',
]);
const forTools = new Set(['MPL-2.0']); // tools are not shipped, and these licenses cover only their own files

/** An entry of `packages` in package-lock.json, or a package.json. */
export interface PackageLicence {
  readonly license?: string | { readonly type?: string };
  readonly licenses?: readonly { readonly type?: string }[];
}

export function licenceOf({ license, licenses }: PackageLicence): string | undefined {
  if (typeof license === 'object') return license.type;
  return license ?? licenses?.map(({ type }) => type).join(' OR ');
}

export function isAllowed(expression: string, isTool: boolean): boolean {
  const text = expression.trim().replace(/^\((.*)\)$/, '$1');
  if (/\sOR\s/.test(text)) return text.split(/\sOR\s/).some((one) => isAllowed(one, isTool));
  if (/\sAND\s/.test(text)) return text.split(/\sAND\s/).every((one) => isAllowed(one, isTool));
  return permissive.has(text) || (isTool && forTools.has(text));
}
