import { wellKnownPaths } from './paths.ts';

/** Shells that customers paste the command into: dash, bash, zsh and others; Windows PowerShell 5.1 and PowerShell 7. */
export type SetupShell = 'posix' | 'powershell';

/** Options of the script by name, as `setup.sh` writes them; `true` for one without a value. */
export type SetupOptions = Readonly<Record<string, string | true>>;

/** Returns true if a plugin serves the script, and thus the page that shows it. */
export function hasSetup({ pages }: { readonly pages: readonly { readonly path: string }[] }): boolean {
  return pages.some(({ path }) => path === wellKnownPaths.connect);
}

/**
 * Returns the visitor's most likely shell.
 *
 * @param userAgent as the browser sends it
 */
export function setupShellOf(userAgent: string): SetupShell {
  return /Windows/.test(userAgent) ? 'powershell' : 'posix';
}

/**
 * Returns the URL of the script, as a word of its shell.
 *
 * @param baseUrl of the service, as in gateway.yaml
 */
export function setupUrl(shell: SetupShell, baseUrl: string): string {
  return wordOf(shell, `${plainUrl(baseUrl)}/${shell === 'posix' ? 'setup.sh' : 'setup.ps1'}`);
}

/** Returns the command that sets up a customer's tools: loads the script and runs it. */
export function setupCommand(shell: SetupShell, baseUrl: string, options: SetupOptions = {}): string {
  const url = setupUrl(shell, baseUrl);
  const words = setupOptions(shell, options);
  if (shell === 'posix') return `curl -fsSL ${url} | sh${words === '' ? '' : ` -s -- ${words}`}`;
  // A script from a pipe takes no parameters; a script block does.
  return words === '' ? `irm ${url} | iex` : `& ([scriptblock]::Create((irm ${url}))) ${words}`;
}

/** Returns the options in the syntax of a shell: `--dry-run --tools codex`, `-DryRun -Tools codex`. */
export function setupOptions(shell: SetupShell, options: SetupOptions): string {
  return Object.entries(options)
    .map(([name, value]) => {
      const option = shell === 'posix' ? `--${name}` : `-${pascalCase(name)}`;
      return value === true ? option : `${option} ${wordOf(shell, value)}`;
    })
    .join(' ');
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase());
}

/**
 * Returns the command as a sample for pages that do not know the reader's system: for the likely shell, with the other one in a comment.
 * Copying takes `value`, the command alone: zsh runs pasted comments, and the prompt for the key may read them.
 */
export function setupSample(userAgent: string, baseUrl: string): { readonly text: string; readonly value: string } {
  const shell = setupShellOf(userAgent);
  const value = setupCommand(shell, baseUrl);
  const [other, name]: [SetupShell, string] =
    shell === 'posix' ? ['powershell', 'Windows PowerShell'] : ['posix', 'Linux, macOS'];
  return { text: `${value}\n\n# ${name}:\n# ${setupCommand(other, baseUrl)}`, value };
}

/** Returns a URL with only plain characters: others are percent-encoded in the path. */
export function plainUrl(url: string): string {
  return new URL(url).href
    .replace(/\/+$/, '')
    .replaceAll(/[^\w.:/~%[\]-]/g, (character) => encodeURIComponent(character).replaceAll(/[!'()*]/g, percentEncode));
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/**
 * A word for a shell, quoted unless none of its characters has a meaning there. Commas make lists in PowerShell; brackets are patterns in
 * zsh.
 */
function wordOf(shell: SetupShell, text: string): string {
  if (shell === 'posix') return /^[\w./:%@+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
  // PowerShell takes typographic quotes for quotes.
  return /^[\w./:+-]+$/.test(text) ? text : `'${text.replaceAll(/['‘’‚‛]/g, (quote) => quote + quote)}'`;
}
