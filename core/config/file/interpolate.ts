import type { SecretFile, UnusableFile } from './secret-file.ts';

export interface Interpolated {
  readonly value: string;
  /** Variables without a value and without a default. */
  readonly unknown: readonly string[];
  /** The first characters of malformed variables: unclosed, misnamed or nested. */
  readonly malformed: readonly string[];
  /** Files without a default that could not be used. */
  readonly unreadable: readonly UnusableFile[];
  /** Each variable with its written form and its value. */
  readonly filled: readonly { readonly written: string; readonly value: string }[];
}

/**
 * `$${` for a literal `${`, `${NAME}`, `${file:/path}`, each also with `:-default`, and any other text that begins with `${`.
 */
const reference =
  /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)|file:((?:(?!\$\{|:-)[^}])+))(?::-((?:(?!\$\{)[^}])*))?\}|\$\{[^}]{0,40}\}?/g;

/** Variables as programs read them: `process.env.NAME`, `os.environ["NAME"]`, `os.getenv("NAME")`, `ENV["NAME"]`. */
const inPrograms =
  /^(?:(?:process|import\.meta)\.env\.(\w+)|(?:process\.env|os\.environ|os\.[gG]etenv|getenv|ENV|env)[[(]["']?(\w+)["']?[)\]])$/;

/** Returns the name of a variable in the notation of a programming language, which no configuration value resembles. */
export function variableOfProgram(text: string): string | undefined {
  const [, member, index] = inPrograms.exec(text) ?? [];
  return member ?? index;
}

/** Returns the name of a variable in the notation of a shell, Windows, make or a template: `$NAME`, `%NAME%`, `$(NAME)`, `{{ NAME }}`. */
export function foreignVariable(text: string): string | undefined {
  const names = /^(?:\$(\w+)|%(\w+)%|\$\((\w+)\)|\{\{[ ]*\.?(\w+)[ ]*\}\})$/.exec(text);
  return names?.slice(1).find((name) => name !== undefined);
}

/**
 * Fills in variables and secret files. With a default, an empty variable counts as unset, as in a shell, and so does a missing
 * file.
 */
export function interpolate(
  text: string,
  environment: NodeJS.ProcessEnv,
  readSecret: (path: string) => SecretFile,
): Interpolated {
  const unknown: string[] = [];
  const malformed: string[] = [];
  const unreadable: UnusableFile[] = [];
  const filled: { written: string; value: string }[] = [];
  const value = text.replace(reference, (match, name?: string, path?: string, fallback?: string) => {
    if (match === '$${') return '${';
    const fill = (used: string) => {
      filled.push({ written: match, value: used });
      return used;
    };
    if (path !== undefined) {
      const secret = readSecret(path);
      if ('value' in secret) return fill(secret.value);
      if (secret.isMissing && fallback !== undefined) return fill(fallback);
      unreadable.push(secret);
    } else if (name === undefined) malformed.push(match);
    else {
      const found = environment[name];
      if (found !== undefined && (found !== '' || fallback === undefined)) return fill(found);
      if (fallback !== undefined) return fill(fallback);
      unknown.push(name);
    }
    return match;
  });
  return { value, unknown, malformed, unreadable, filled };
}
