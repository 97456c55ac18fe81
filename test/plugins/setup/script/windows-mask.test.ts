import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { maskCases, maskUrl } from './mask-cases.ts';
import { Interpreter } from './powershell/interpreter.ts';
import { Machine } from './powershell/machine.ts';
import { toTree } from './powershell/tree.ts';
import { createParser } from './powershell-syntax.ts';

const part = join(import.meta.dirname, '..', '..', '..', '..', 'plugins', 'setup', 'script', 'ps1', 'difference.ps1');

/** What -DryRun of setup.ps1 shows of the lines of a file. */
async function show(lines: readonly string[]): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'setup-mask-'));
  const data = `$data = ConvertFrom-Json '${JSON.stringify({ keyPrefix: 'dp', baseUrl: maskUrl })}'`;
  const script = [data, await readFile(part, 'utf8'), 'Hide-Lines $lines'].join('\n');
  try {
    const machine = new Machine(root, () => ({ status: 500, body: '' }));
    return new Interpreter(machine).run(toTree((await createParser())(script)), { lines }).join('\n');
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

it('a dry run of setup.ps1 hides what is secret and nothing else', async () => {
  for (const [what, text, expected] of maskCases) expect(await show(text.split('\n')), what).toBe(expected);
});
