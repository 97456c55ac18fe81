import { stringify as writeToml } from 'smol-toml';
import { stringify as writeYaml } from 'yaml';
import type { EnvironmentStep, SettingsFormat, SettingTree, SettingValue, Word } from './tool.ts';

type Settings = SettingTree | readonly SettingValue[];

const renderers: Readonly<Record<SettingsFormat, (settings: Settings) => string>> = {
  json: (settings) => JSON.stringify(settings, undefined, 2),
  toml: (settings) => writeToml(settings),
  // Texts are quoted so that `yes`, `1.0` and dates stay texts in every version of YAML.
  yaml: (settings) => writeYaml(settings, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }),
};

/** Renders a settings file; parsing it yields the same settings, whatever the values. */
export function renderSettings(format: SettingsFormat, settings: Settings): string {
  return renderers[format](settings).trimEnd();
}

/** Syntax of commands and variables for one kind of shell. */
export interface Shell {
  command(words: readonly Word[]): string;
  /** Sets the variables for this terminal; prompts for the key without echo, so that it does not appear in the history. */
  environment(step: Pick<EnvironmentStep, 'variables' | 'key'>, question: string): string;
}

/** POSIX: dash, bash, zsh, busybox ash. */
export const posix: Shell = {
  command: (words) => words.map((word) => (typeof word === 'string' ? quote(word) : `"$${word.variable}"`)).join(' '),
  environment({ variables = {}, key }, question) {
    const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`);
    if (key === undefined) return exports.join('\n');
    const prompt = `printf '%s' ${quoteAlways(question)}; stty -echo; read -r ${key}; stty echo; echo; export ${key}`;
    return [...exports, prompt].join('\n');
  },
};

/** Windows PowerShell 5.1 and PowerShell 7. */
export const powershell: Shell = {
  command: (words) =>
    words.map((word) => (typeof word === 'string' ? quoteForPowershell(word) : `$env:${word.variable}`)).join(' '),
  environment({ variables = {}, key }, question) {
    const assignments = Object.entries(variables).map(([name, value]) => `$env:${name} = ${quoteInPowershell(value)}`);
    if (key === undefined) return assignments.join('\n');
    const prompt = `Read-Host ${quoteInPowershell(question.replace(/:? *$/, ''))} -AsSecureString`;
    return [...assignments, `$env:${key} = [Net.NetworkCredential]::new('', (${prompt})).Password`].join('\n');
  },
};

/** Quotes a word if it contains a special character of any shell. */
function quote(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : quoteAlways(text);
}

export function quoteAlways(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quoteForPowershell(text: string): string {
  return /^[\w./:+=-]+$/.test(text) ? text : quoteInPowershell(text);
}

/** PowerShell treats typographic quotes as quotes. */
function quoteInPowershell(text: string): string {
  return `'${text.replaceAll(/['‘’‚‛]/g, (found) => found + found)}'`;
}
