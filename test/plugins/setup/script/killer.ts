import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestHome } from './engine-fixture.ts';

/** A folder for PATH whose `node` runs these lines of CommonJS first, as a program beside the script would act meanwhile. */
export async function hookedPath({ folder }: TestHome, lines: string): Promise<string> {
  const bin = join(folder, 'hooked');
  await mkdir(bin, { recursive: true });
  const hook = `const fs = require('node:fs');\n${lines}\nrequire('node:module').syncBuiltinESMExports();\n`;
  await writeFile(join(bin, 'hook.cjs'), hook);
  const node = `#!/bin/sh\nexec '${process.execPath}' --require '${bin}/hook.cjs' "$@"\n`;
  await writeFile(join(bin, 'node'), node, { mode: 0o755 });
  return `${bin}:${process.env['PATH']}`;
}

/**
 * A folder for PATH whose `node` kills the whole script at its n-th change of a file or folder in the home, before or after it.
 * All changes are counted in the file `calls`.
 */
export function killerPath(home: TestHome, signal: string, count: number): Promise<string> {
  return hookedPath(
    home,
    `const calls = ${JSON.stringify(join(home.folder, 'calls'))};
const { appendFileSync, readFileSync } = fs;
for (const name of ['openSync', 'writeFileSync', 'mkdirSync', 'renameSync', 'rmSync', 'rmdirSync']) {
  const real = fs[name];
  fs[name] = (path, ...rest) => {
    const isChange = String(path).startsWith(${JSON.stringify(home.home)}) && (name !== 'openSync' || rest[0] !== 'r');
    if (!isChange) return real(path, ...rest);
    appendFileSync(calls, 'x');
    if (readFileSync(calls).length === ${count}) {
      if (${count % 2 === 0}) real(path, ...rest);
      process.kill(0, ${JSON.stringify(`SIG${signal}`)});
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000);
    }
    return real(path, ...rest);
  };
}`,
  );
}
