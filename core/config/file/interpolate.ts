import type { SecretFile, UnusableFile } from './secret-file.ts';

/** A text with its variables expanded, and those that could not be expanded. */
export interface Interpolated {
  readonly value: string;
  readonly unsetNames: readonly string[]; // variables that have neither a value nor a default
  /** The beginning of each malformed variable: one that is unclosed, misnamed or nested. */
  readonly malformedStarts: readonly string[];
  readonly unusableFiles: readonly UnusableFile[]; // secret files that could not be used and were not replaced with a default
  /** Each variable as it is written, and its value. */
  readonly variables: readonly { readonly written: string; readonly value: string }[];
}

/** Matches `$${` (a literal `${`), `${NAME}` and `${file:/path}`, with or without `:-default`, and any other text after `${`. */
const reference =
  /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)|file:((?:(?!\$\{|:-)[^}])+))(?::-((?:(?!\$\{)[^}])*))?\}|\$\{[^}]{0,40}\}?/g;

const programNotation =
  /^(?:(?:process|import\.meta)\.env\.(\w+)|(?:process\.env|os\.environ|os\.[gG]etenv|getenv|ENV|env)[[(]["']?(\w+)["']?[)\]])$/;

/** Returns the name of a variable in a program's notation: `process.env.NAME`, `os.environ["NAME"]`. No legitimate value has this form. */
export function findProgramVariable(text: string): string | undefined {
  const [, member, index] = programNotation.exec(text) ?? [];
  return member ?? index;
}

/** Returns the name of a variable written as in a shell, Windows, make or a template: `$NAME`, `%NAME%`, `$(NAME)`, `{{ NAME }}`. */
export function findForeignVariable(text: string): string | undefined {
  const names = /^(?:\$(\w+)|%(\w+)%|\$\((\w+)\)|\{\{[ ]*\.?(\w+)[ ]*\}\})$/.exec(text);
  return names?.slice(1).find((name) => name !== undefined);
}

/** Fills in variables and secret files. A default is used if the variable is unset or empty, as in a shell, or if the file is missing. */
export function interpolate(
  text: string,
  environment: NodeJS.ProcessEnv,
  readSecret: (path: string) => SecretFile,
): Interpolated {
  const unsetNames: string[] = [];
  const malformedStarts: string[] = [];
  const unusableFiles: UnusableFile[] = [];
  const variables: { written: string; value: string }[] = [];
  const value = text.replace(reference, (match, name?: string, path?: string, fallback?: string) => {
    if (match === '$${') return '${';
    const fill = (replacement: string) => {
      variables.push({ written: match, value: replacement });
      return replacement;
    };
    if (path !== undefined) {
      const secret = readSecret(path);
      if ('value' in secret) return fill(secret.value);
      if (secret.isMissing && fallback !== undefined) return fill(fallback);
      unusableFiles.push(secret);
      return match;
    }
    if (name === undefined) {
      malformedStarts.push(match);
      return match;
    }
    const setting = environment[name];
    if (setting !== undefined && (setting !== '' || fallback === undefined)) return fill(setting);
    if (fallback !== undefined) return fill(fallback);
    unsetNames.push(name);
    return match;
  });
  return { value, unsetNames, malformedStarts, unusableFiles, variables };
}
