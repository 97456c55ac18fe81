import { wellKnownPaths } from './paths.ts';

/**
 * Shells that customers paste the command into. `posix`: dash, bash, zsh and others; `powershell`: Windows PowerShell 5.1 and PowerShell 7.
 */
export type SetupShell = 'posix' | 'powershell';

/** Script options by name, in `setup.sh` spelling; `true` for an option that takes no value. */
export type SetupOptions = Readonly<Record<string, string | true>>;

/** Returns true if a plugin serves the connect page. That plugin also serves the setup script. */
export function hasSetup({ pages }: { readonly pages: readonly { readonly path: string }[] }): boolean {
  return pages.some(({ path }) => path === wellKnownPaths.connect);
}

export function guessSetupShell(userAgent: string): SetupShell {
  return /Windows/.test(userAgent) ? 'powershell' : 'posix';
}

/** Returns the URL of the script, quoted for the shell. */
export function formatSetupUrl(shell: SetupShell, baseUrl: string): string {
  return quoteForShell(shell, `${percentEncodeUrl(baseUrl)}/${shell === 'posix' ? 'setup.sh' : 'setup.ps1'}`);
}

/** Returns the command that downloads and runs the script which sets up a customer's tools. */
export function formatSetupCommand(shell: SetupShell, baseUrl: string, options: SetupOptions = {}): string {
  const url = formatSetupUrl(shell, baseUrl);
  const optionText = formatSetupOptions(shell, options);
  if (shell === 'posix') return `curl -fsSL ${url} | sh${optionText === '' ? '' : ` -s -- ${optionText}`}`;
  // A script piped to `iex` cannot take parameters; a script block can.
  return optionText === '' ? `irm ${url} | iex` : `& ([scriptblock]::Create((irm ${url}))) ${optionText}`;
}

/** Returns options in the syntax of a shell: `--dry-run --tools codex`, `-DryRun -Tools codex`. */
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
 * Creates the sample for pages that cannot be sure which system the reader uses: the command for the likely shell, and the one for the
 * other shell in a comment. The copy button copies only `value`: an interactive zsh would run a pasted comment as a command, and elsewhere
 * the script's key prompt could read the comment as the key.
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

/**
 * Percent-encodes every character that would need quoting in a shell, except the brackets of an IPv6 address, and removes trailing
 * slashes.
 *
 * @param url must have no query or fragment
 */
export function percentEncodeUrl(url: string): string {
  return new URL(url).href
    .replace(/\/+$/, '')
    .replaceAll(/[^\w.:/~%[\]-]/g, (character) => encodeURIComponent(character).replaceAll(/[!'()*]/g, percentEncode));
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Commas make lists in PowerShell; brackets are patterns in zsh. */
function quoteForShell(shell: SetupShell, text: string): string {
  if (shell === 'posix') return /^[\w./:%@+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
  // PowerShell treats typographic quotes as quotes.
  return /^[\w./:+-]+$/.test(text) ? text : `'${text.replaceAll(/['‘’‚‛]/g, (quote) => quote + quote)}'`;
}
