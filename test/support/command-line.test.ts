import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { runCommand } from './command-line.ts';

it('a command that runs in the process of the tests has only its own output, whatever else prints meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-command-'));
  const shown = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const timer = setInterval(() => process.stderr.write('a gateway of another test\n'), 0);
  try {
    const { code, out, errors } = await runCommand(['--config', join(folder, 'gateway.yaml'), 'schema', '-o', '-']);
    expect([code, out, errors]).toEqual([0, expect.stringMatching(/^\{/), expect.stringContaining('does not exist')]);
    expect(errors).not.toContain('another test');
    expect(shown).toHaveBeenCalledWith('a gateway of another test\n');
  } finally {
    clearInterval(timer);
    shown.mockRestore();
    await rm(folder, { recursive: true, force: true });
  }
});
