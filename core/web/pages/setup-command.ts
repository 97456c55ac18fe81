import { wellKnownPaths } from './paths.ts';

/** Shells that customers paste the command into: dash, bash, zsh and others; Windows PowerShell 5.1 and PowerShell 7. */
export type SetupShell = 'posix' | 'powershell';

/** Options of the script by name, spelled as for `setup.sh`; `true` for an option without a value. */
export type SetupOptions = Readonly<Record<string, string | true>>;

/** Returns true if a plugin serves the script, and thus the page that shows it. */
export function hasSetup({ pages }: { readonly pages: readonly { readonly path: string }[] }): boolean {
  return pages.some(({ path }) => path === wellKnownPaths.connect);
}

/**
 * Returns the visitor's most likely shell.
 *
 * @param userAgent the browser's User-Agent
 */
export function guessSetupShell(userAgent: string): SetupShell {
  return /Windows/.test(userAgent) ? 'powershell' : 'posix';
}

/**
 * Returns the URL of the script, quoted for its shell.
 *
 * @param baseUrl base URL of the service, as in gateway.yaml
 */
export function formatSetupUrl(shell: SetupShell, baseUrl: string): string {
  return quoteForShell(shell, `${percentEncodeUrl(baseUrl)}/${shell === 'posix' ? 'setup.sh' : 'setup.ps1'}`);
}

/** Returns the command that downloads and runs the script that sets up a customer's tools. */
export function formatSetupCommand(shell: SetupShell, baseUrl: string, options: SetupOptions = {}): string {
  const url = formatSetupUrl(shell, baseUrl);
  const optionText = formatSetupOptions(shell, options);
  if (shell === 'posix') return `curl -fsSL ${url} | sh${optionText === '' ? '' : ` -s -- ${optionText}`}`;
  // A script from a pipe takes no parameters; a script block does.
  return optionText === '' ? `irm ${url} | iex` : `& ([scriptblock]::Create((irm ${url}))) ${optionText}`;
}

/** Returns the options in the syntax of a shell: `--dry-run --tools codex`, `-DryRun -Tools codex`. */
export function formatSetupOptions(shell: SetupShell, options: SetupOptions): string {
  return Object.entries(options)
    .map(([name, value]) => {
      const option = shell === 'posix' ? `--${name}` : `-${toPascalCase(name)}`;
      return value === true ? option : `${option} ${quoteForShell(shell, value)}`;
    })
    .join(' ');
}

function toPascalCase(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase());
}

/**
 * Creates the sample for pages that cannot be sure of the reader's system: the command for the likely shell, and the command for the other
 * shell in a comment. The copy button copies only `value`, because zsh runs pasted comments, and the prompt for the key may read them.
 */
export function createSetupSample(
  userAgent: string,
  baseUrl: string,
): { readonly text: string; readonly value: string } {
  const shell = guessSetupShell(userAgent);
  const value = formatSetupCommand(shell, baseUrl);
  const [otherShell, name]: [SetupShell, string] =
    shell === 'posix' ? ['powershell', 'Windows PowerShell'] : ['posix', 'Linux, macOS'];
  return { text: `${value}\n\n# ${name}:\n# ${formatSetupCommand(otherShell, baseUrl)}`, value };
}

/** Percent-encodes all characters of a URL that a shell could interpret, and removes trailing slashes. */
export function percentEncodeUrl(url: string): string {
  return new URL(url).href
    .replace(/\/+$/, '')
    .replaceAll(/[^\w.:/~%[\]-]/g, (character) => encodeURIComponent(character).replaceAll(/[!'()*]/g, percentEncode));
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Quotes a word for a shell if it has special characters. Commas make lists in PowerShell; brackets are patterns in zsh. */
function quoteForShell(shell: SetupShell, text: string): string {
  if (shell === 'posix') return /^[\w./:%@+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
  // PowerShell treats typographic quotes as quotes.
  return /^[\w./:+-]+$/.test(text) ? text : `'${text.replaceAll(/['‘’‚‛]/g, (quote) => quote + quote)}'`;
}
