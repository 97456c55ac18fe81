import { stringify as writeToml } from 'smol-toml';
import { stringify as writeYaml } from 'yaml';
import type { SettingsFormat, SettingTree, SettingValue } from '../tool.ts';

type Settings = SettingTree | readonly SettingValue[];

const writers: Readonly<Record<SettingsFormat, (settings: Settings) => string>> = {
  json: (settings) => JSON.stringify(settings, undefined, 2),
  toml: (settings) => writeToml(settings),
  // Texts are quoted: `yes`, `1.0` and dates stay texts in every version of YAML.
  yaml: (settings) => writeYaml(settings, { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN', lineWidth: 0 }),
};

/** The text of a settings file, which its format reads back as these settings, whatever the values are. */
export function writeSettings(format: SettingsFormat, settings: Settings): string {
  return writers[format](settings).trimEnd();
}
