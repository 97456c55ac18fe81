import { describe, expect, it } from 'vitest';
import {
  formatSetupCommand,
  formatSetupOptions,
  createSetupSample,
  guessSetupShell,
} from '#core/web/pages/setup-command.ts';

const base = 'https://ai.example';

describe('the command that sets up tools', () => {
  it('pipes the script into the shell of the system', () => {
    expect(formatSetupCommand('posix', base)).toBe('curl -fsSL https://ai.example/setup.sh | sh');
    expect(formatSetupCommand('powershell', base)).toBe('irm https://ai.example/setup.ps1 | iex');
  });

  it('hands options over in the syntax of each shell', () => {
    const options = { tools: 'claude-code,codex', 'dry-run': true } as const;
    expect(formatSetupCommand('posix', base, options)).toBe(
      'curl -fsSL https://ai.example/setup.sh | sh -s -- --tools claude-code,codex --dry-run',
    );
    expect(formatSetupCommand('powershell', base, options)).toBe(
      "& ([scriptblock]::Create((irm https://ai.example/setup.ps1))) -Tools 'claude-code,codex' -DryRun",
    );
  });

  it('keeps a port and a path, and quotes an address that a shell would expand', () => {
    expect(formatSetupCommand('posix', 'https://ai.example:8443/gate/')).toBe(
      'curl -fsSL https://ai.example:8443/gate/setup.sh | sh',
    );
    expect(formatSetupCommand('posix', 'http://[::1]:8080')).toBe("curl -fsSL 'http://[::1]:8080/setup.sh' | sh");
    expect(formatSetupCommand('powershell', 'http://[::1]:8080')).toBe("irm 'http://[::1]:8080/setup.ps1' | iex");
    expect(formatSetupCommand('posix', `https://ai.example/$(id)/it's`)).toBe(
      'curl -fsSL https://ai.example/%24%28id%29/it%27s/setup.sh | sh',
    );
  });

  it.each([
    ['dp/gpt-6-sol@latest', 'dp/gpt-6-sol@latest'],
    ['dp/$(id)', `'dp/$(id)'`],
    [`a'b`, `'a'\\''b'`],
  ])('writes the word %s so that a POSIX shell hands it over as it is', (model, written) => {
    expect(formatSetupOptions('posix', { model })).toBe(`--model ${written}`);
  });

  it('doubles the quotes of PowerShell', () => {
    expect(formatSetupOptions('powershell', { model: `a'b’c` })).toBe(`-Model 'a''b’’c'`);
  });
});

describe('the sample for pages that do not know the system', () => {
  const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';

  it('has the command of the reader’s system, and the other one in a comment', () => {
    expect(createSetupSample('Mozilla/5.0 (Macintosh)', base).text).toBe(
      'curl -fsSL https://ai.example/setup.sh | sh\n\n# Windows PowerShell:\n# irm https://ai.example/setup.ps1 | iex',
    );
    expect(createSetupSample(windows, base).text).toMatch(/^irm \S+ \| iex\n\n# Linux, macOS:\n# curl /);
  });

  it('is copied without the comments, which zsh would run', () => {
    expect(createSetupSample('Mozilla/5.0 (Macintosh)', base).value).toBe(
      'curl -fsSL https://ai.example/setup.sh | sh',
    );
    expect(createSetupSample(windows, base).value).toBe('irm https://ai.example/setup.ps1 | iex');
  });

  it('takes an unknown system for one with a POSIX shell', () => {
    expect([guessSetupShell(''), guessSetupShell('curl/8'), guessSetupShell(windows)]).toEqual([
      'posix',
      'posix',
      'powershell',
    ]);
  });
});
