import fc from 'fast-check';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import type { SettingsFormat } from '../../../plugins/setup/tool.ts';
import { renderSettings } from '../../../plugins/setup/writers.ts';
import { powershell } from '../../../plugins/setup/writers.ts';
import { nasty } from './nasty.ts';

const readers: Record<SettingsFormat, (text: string) => unknown> = {
  json: (text) => JSON.parse(text),
  toml: (text) => parseToml(text),
  yaml: (text) => parseYaml(text),
};

describe.each(Object.keys(readers) as SettingsFormat[])('settings as %s', (format) => {
  it('are read back as they were, whatever is in the values and names', () => {
    fc.assert(
      fc.property(nasty, nasty, nasty, (name, value, deep) => {
        const settings = { before: 1, [`k${name}`]: { inner: value, list: [{ deep, is: true }] } };
        expect(readers[format](renderSettings(format, settings))).toEqual(settings);
      }),
      { numRuns: 300 },
    );
  });
});

describe('PowerShell', () => {
  it('PowerShell keeps every kind of quote that it knows inside of a word', () => {
    expect(powershell.renderCommand(['x', `a'b‘c’d‚e‛f`])).toBe(`x 'a''b‘‘c’’d‚‚e‛‛f'`);
  });

  it('PowerShell asks for the key without an echo', () => {
    const lines = powershell.renderEnvironment({ variables: { A: `it's` }, key: 'K' }, 'API key: ');
    expect(lines).toBe(
      `$env:A = 'it''s'\n$env:K = [Net.NetworkCredential]::new('', (Read-Host 'API key' -AsSecureString)).Password`,
    );
  });
});
