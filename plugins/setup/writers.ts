import { stringify as writeToml } from 'smol-toml';
import { stringify as writeYaml } from 'yaml';
import type { EnvironmentStep, SettingsFormat, SettingTree, SettingValue, Word } from './tool.ts';

type Settings = SettingTree | readonly SettingValue[];

const renderers: Readonly<Record<SettingsFormat, (settings: Settings) => string>> = {
  json: (settings) => JSON.stringify(settings, undefined, 2),
  toml: (settings) => writeToml(settings),
  // Strings are quoted so that `yes`, `1.0` and dates stay strings in every version of YAML.
  yaml: (settings) => writeYaml(settings, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }),
};

/** Parsing the file yields the same settings, whatever the values are. */
export function renderSettings(format: SettingsFormat, settings: Settings): string {
  return renderers[format](settings).trimEnd();
}

export interface Shell {
  renderCommand(words: readonly Word[]): string;
  /** Sets the variables for this terminal. Asks for the key without echo, so that it does not appear in the history. */
  renderEnvironment(step: Pick<EnvironmentStep, 'variables' | 'key'>, question: string): string;
}

/** POSIX: dash, bash, zsh, busybox ash. */
export const posix: Shell = {
  renderCommand: (words) =>
    words.map((word) => (typeof word === 'string' ? quoteIfNeeded(word) : `"$${word.variable}"`)).join(' '),
  renderEnvironment({ variables = {}, key }, question) {
    const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${quoteIfNeeded(value)}`);
    if (key === undefined) return exports.join('\n');
    const prompt = `printf '%s' ${quoteAlways(question)}; stty -echo; read -r ${key}; stty echo; echo; export ${key}`;
    return [...exports, prompt].join('\n');
  },
};

/** Windows PowerShell 5.1 and PowerShell 7. */
export const powershell: Shell = {
  renderCommand: (words) =>
    words.map((word) => (typeof word === 'string' ? quotePowershellIfNeeded(word) : `$env:${word.variable}`)).join(' '),
  renderEnvironment({ variables = {}, key }, question) {
    const assignments = Object.entries(variables).map(([name, value]) => `$env:${name} = ${quotePowershell(value)}`);
    if (key === undefined) return assignments.join('\n');
    const prompt = `Read-Host ${quotePowershell(question.replace(/:? *$/, ''))} -AsSecureString`;
    return [...assignments, `$env:${key} = [Net.NetworkCredential]::new('', (${prompt})).Password`].join('\n');
  },
};

function quoteIfNeeded(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : quoteAlways(text);
}

export function quoteAlways(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quotePowershellIfNeeded(text: string): string {
  return /^[\w./:+=-]+$/.test(text) ? text : quotePowershell(text);
}

function quotePowershell(text: string): string {
  // PowerShell accepts typographic quotes as quotes.
  return `'${text.replaceAll(/['‘’‚‛]/g, (found) => found + found)}'`;
}
