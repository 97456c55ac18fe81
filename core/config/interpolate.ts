export interface Interpolated {
  readonly value: string;
  /** Variables without a value and without a default. */
  readonly unknown: readonly string[];
  /** What begins as a variable does and is none, a few characters of each: not closed, badly named, or nested. */
  readonly malformed: readonly string[];
  readonly hasVariables: boolean;
}

/** `$${` for a dollar that means itself, `${NAME}`, `${NAME:-default}`, and whatever else begins as a variable. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\}|\$\{[^}]{0,40}\}?/g;

/** Fills variables in. A variable that is set to nothing counts as not set when there is a default, as in a shell. */
export function interpolate(text: string, environment: NodeJS.ProcessEnv): Interpolated {
  const unknown: string[] = [];
  const malformed: string[] = [];
  let hasVariables = false;
  const value = text.replace(reference, (match, name: string | undefined, fallback: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) {
      malformed.push(match);
      return match;
    }
    hasVariables = true;
    const found = environment[name];
    if (fallback !== undefined) return found === undefined || found === '' ? fallback : found;
    if (found === undefined) unknown.push(name);
    return found ?? match;
  });
  return { value, unknown, malformed, hasVariables };
}
