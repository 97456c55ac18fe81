export interface Interpolated {
  readonly value: string;
  /** Variables without a value and without a default. */
  readonly unknown: readonly string[];
  readonly hasVariables: boolean;
}

/** `${NAME}`, `${NAME:-default}`, and `$${` for a dollar that means itself. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Fills variables in. A variable that is set to nothing counts as not set when there is a default, as in a shell. */
export function interpolate(text: string, environment: NodeJS.ProcessEnv): Interpolated {
  const unknown: string[] = [];
  let hasVariables = false;
  const value = text.replace(reference, (match, name: string | undefined, fallback: string | undefined) => {
    if (name === undefined) return '${';
    hasVariables = true;
    const found = environment[name];
    if (fallback !== undefined) return found === undefined || found === '' ? fallback : found;
    if (found === undefined) unknown.push(name);
    return found ?? match;
  });
  return { value, unknown, hasVariables };
}
