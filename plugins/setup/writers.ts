import { stringify as writeToml } from 'smol-toml';
import { stringify as writeYaml } from 'yaml';
import type { EnvironmentStep, SettingsFormat, SettingTree, SettingValue, Word } from './tool.ts';

type Settings = SettingTree | readonly SettingValue[];

const writers: Readonly<Record<SettingsFormat, (settings: Settings) => string>> = {
  json: (settings) => JSON.stringify(settings, undefined, 2),
  toml: (settings) => writeToml(settings),
  // Texts are quoted: `yes`, `1.0` and dates stay texts in every version of YAML.
  yaml: (settings) => writeYaml(settings, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }),
};

/** The text of a settings file, which its format reads back as these settings, with any values. */
export function writeSettings(format: SettingsFormat, settings: Settings): string {
  return writers[format](settings).trimEnd();
}

/** How commands and variables are written for one kind of shell. */
export interface Shell {
  command(words: readonly Word[]): string;
  /** Sets the variables for this terminal; asks for the key without an echo, so that it is not in the history. */
  environment(step: Pick<EnvironmentStep, 'variables' | 'key'>, question: string): string;
}

/** POSIX: dash, bash, zsh, busybox ash. */
export const posix: Shell = {
  command: (words) => words.map((word) => (typeof word === 'string' ? quote(word) : `"$${word.variable}"`)).join(' '),
  environment({ variables = {}, key }, question) {
    const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`);
    if (key === undefined) return exports.join('\n');
    const ask = `printf '%s' ${quoteAlways(question)}; stty -echo; read -r ${key}; stty echo; echo; export ${key}`;
    return [...exports, ask].join('\n');
  },
};

/** Windows PowerShell 5.1 and PowerShell 7. */
export const powershell: Shell = {
  command: (words) =>
    words.map((word) => (typeof word === 'string' ? quoteForPowershell(word) : `$env:${word.variable}`)).join(' '),
  environment({ variables = {}, key }, question) {
    const set = Object.entries(variables).map(([name, value]) => `$env:${name} = ${quoteInPowershell(value)}`);
    if (key === undefined) return set.join('\n');
    const read = `Read-Host ${quoteInPowershell(question.replace(/:? *$/, ''))} -AsSecureString`;
    return [...set, `$env:${key} = [Net.NetworkCredential]::new('', (${read})).Password`].join('\n');
  },
};

/** A word as it is where no shell would read more into it; otherwise in single quotes. */
function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : quoteAlways(text);
}

/** Any word in single quotes. */
export function quoteAlways(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quoteForPowershell(text: string): string {
  return /^[\w./:+=-]+$/.test(text) ? text : quoteInPowershell(text);
}

/** PowerShell takes typographic quotes for quotes. */
function quoteInPowershell(text: string): string {
  return `'${text.replaceAll(/['‘’‚‛]/g, (found) => found + found)}'`;
}
