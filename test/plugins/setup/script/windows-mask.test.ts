import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { maskCases, maskUrl } from './mask-cases.ts';
import { Interpreter } from './powershell/interpreter.ts';
import { Machine } from './powershell/machine.ts';
import { type SyntaxNode, toTree } from './powershell/tree.ts';
import { createParser } from './powershell-syntax.ts';

const part = join(import.meta.dirname, '..', '..', '..', '..', 'plugins', 'setup', 'script', 'ps1', 'difference.ps1');

let script: SyntaxNode;
let drive = '';
beforeAll(async () => {
  const data = `$data = ConvertFrom-Json '${JSON.stringify({ keyPrefix: 'dp', baseUrl: maskUrl })}'`;
  const text = [data, await readFile(part, 'utf8'), 'Hide-Lines $lines'].join('\n');
  script = toTree((await createParser())(text));
  drive = await mkdtemp(join(tmpdir(), 'setup-mask-'));
});
afterAll(() => rm(drive, { recursive: true, force: true }));

it.each(maskCases)('a dry run of setup.ps1 hides what is secret and nothing else: %s', (_, text, expected) => {
  const machine = new Machine(drive, () => ({ status: 500, body: '' }));
  expect(new Interpreter(machine).run(script, { lines: text.split('\n') }).join('\n')).toBe(expected);
});
