import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestHome } from './engine-fixture.ts';
import { runShell } from './shells.ts';

const changing = ['mv', 'cp', 'mkdir', 'rm', 'chmod'];

/** A folder for PATH in which commands that change files kill the whole script at the n-th call, before or after it. */
export async function killerPath({ folder, home }: TestHome, signal: string, count: number): Promise<string> {
  const bin = join(folder, 'killer');
  await mkdir(bin, { recursive: true });
  for (const name of changing) {
    const real = (await runShell(['sh'], ['-c', `command -v ${name}`], { env: process.env })).stdout.trim();
    // Commands on the temporary folder alone do not count.
    const text = `#!/bin/sh
case " $* " in
  *" ${home}"*) printf x >>'${folder}/calls' ;;
  *) exec ${real} "$@" ;;
esac
read -r calls <'${folder}/calls'
if [ "\${#calls}" = ${count} ]; then ${count % 2 === 0 ? `${real} "$@"; ` : ''}kill -s ${signal} 0; sleep 5; fi
exec ${real} "$@"
`;
    await writeFile(join(bin, name), text, { mode: 0o755 });
  }
  return `${bin}:${process.env['PATH']}`;
}
