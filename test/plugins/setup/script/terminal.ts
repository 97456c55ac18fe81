import { join } from 'node:path';
import { pathOf } from '../programs.ts';
import { runShell } from './shells.ts';

const helper = join(import.meta.dirname, 'terminal.py');

/**
 * Runs a command on a terminal, with text on its standard input, as after `curl … |`. Needs Python.
 *
 * @param answers pairs of a prompt and what is typed once it has appeared
 */
export async function runOnTerminal(
  command: readonly string[],
  answers: readonly (readonly [string, string])[],
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string; readonly input: string },
): Promise<{ status: number; output: string }> {
  const { stdout } = await runShell([pathOf('python3'), '-S', helper, JSON.stringify(answers)], command, options);
  const lines = stdout.trimEnd().split('\n');
  return { status: Number(lines.pop()), output: lines.join('\n').trim() };
}
