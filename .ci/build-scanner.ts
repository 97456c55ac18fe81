/**
 * Compiles core/platform/json-outline/scanner.as. The compiler is fetched just for this, because it is larger than all other tools and the
 * source rarely changes. A test compares the source with the digest stored in the binary.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const compiler = 'assemblyscript@0.28.20';
const folder = join(import.meta.dirname, '../core/platform/json-outline');
const source = join(folder, 'scanner.as');

const scratch = mkdtempSync(join(tmpdir(), 'daypass-scanner-'));
try {
  const [entry, binary] = [join(scratch, 'scanner.ts'), join(scratch, 'scanner.wasm')];
  copyFileSync(source, entry);
  const options = ['-O3', '--runtime', 'stub', '--enable', 'simd', '--initialMemory', '4', '--noAssert', '-o', binary];
  execFileSync('npx', ['--yes', '--package', compiler, 'asc', entry, ...options], { cwd: scratch, stdio: 'inherit' });
  const digest = createHash('sha256').update(readFileSync(source)).digest();
  writeFileSync(join(folder, 'scanner.wasm'), Buffer.concat([readFileSync(binary), customSection('source', digest)]));
} finally {
  rmSync(scratch, { recursive: true });
}

/**
 * Works for content of less than 128 bytes, whose length fits in one byte. Source: WebAssembly Core Specification, "Binary Format", 5.5.3.
 */
function customSection(name: string, content: Buffer): Buffer {
  const size = 1 + name.length + content.length;
  return Buffer.concat([Buffer.from([0, size, name.length]), Buffer.from(name), content]);
}
