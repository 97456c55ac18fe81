export interface Interpolated {
  readonly value: string;
  /** Variables without a value and without a default. */
  readonly unknown: readonly string[];
  /** The first characters of malformed variables: unclosed, misnamed or nested. */
  readonly malformed: readonly string[];
  /** Each variable as written, and its value. */
  readonly filled: readonly { readonly written: string; readonly value: string }[];
}

/** `$${` for a literal `${`, `${NAME}`, `${NAME:-default}`, and anything else that begins with `${`. */
const reference = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\}|\$\{[^}]{0,40}\}?/g;

/** The name of a variable that is written as in a shell, Windows, make or a template: `$NAME`, `%NAME%`, `$(NAME)`, `{{ NAME }}`. */
export function foreignVariable(text: string): string | undefined {
  const names = /^(?:\$(\w+)|%(\w+)%|\$\((\w+)\)|\{\{[ ]*\.?(\w+)[ ]*\}\})$/.exec(text);
  return names?.slice(1).find((name) => name !== undefined);
}

/** Fills in variables. An empty variable counts as unset when there is a default, as in a shell. */
export function interpolate(text: string, environment: NodeJS.ProcessEnv): Interpolated {
  const unknown: string[] = [];
  const malformed: string[] = [];
  const filled: { written: string; value: string }[] = [];
  const value = text.replace(reference, (match, name: string | undefined, fallback: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) {
      malformed.push(match);
      return match;
    }
    const found = environment[name];
    if (found === undefined && fallback === undefined) {
      unknown.push(name);
      return match;
    }
    const used = found === undefined || (found === '' && fallback !== undefined) ? (fallback as string) : found;
    filled.push({ written: match, value: used });
    return used;
  });
  return { value, unknown, malformed, filled };
}
