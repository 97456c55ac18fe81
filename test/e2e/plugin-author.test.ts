import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type PackedGateway, packGateway } from '../support/packed.ts';

const root = resolve(import.meta.dirname, '..', '..');
const bin = (name: string) => join(root, 'node_modules', '.bin', name);

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

/** A folder with the package of the gateway, and with what docs/plugins.md says to put there. */
let folder: string;
let yaml: readonly string[];
let packed: PackedGateway;
beforeAll(async () => {
  packed = await packGateway();
  ({ folder } = packed);
  const page = await readFile(join(root, 'docs', 'plugins.md'), 'utf8');
  for (const [, file = '', text = ''] of page.matchAll(/^```(?:ts|json)\n\/\/ (\S+)\n(.*?)^```$/gms))
    await writeFile(join(folder, file), text);
  yaml = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text);
});
afterAll(() => packed[Symbol.asyncDispose]());

/** What a program prints; with its exit code when it fails. */
async function run(program: string, ...parameters: string[]): Promise<string> {
  const options = { cwd: folder, env: { PATH: process.env['PATH'] } };
  return promisify(execFile)(program, parameters, options).then(
    ({ stdout }) => stdout,
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => `exit ${code}\n${stdout}${stderr}`,
  );
}

describe('a folder outside of the gateway', () => {
  it('has the types of daypass by one line, adds events to them, and gets type errors for what does not fit', async () => {
    // A stage, endpoints, a page, a table and a job.
    await cp(join(root, 'docs', 'examples'), join(folder, 'examples'), { recursive: true });
    await writeFile(
      join(folder, 'events.ts'),
      `import type { Host, Registry } from 'daypass';
declare module 'daypass' {
  interface EventTypes { 'note.written': { readonly accountId: string } }
}
export function listen(gateway: Registry): void {
  gateway.on('note.written', ({ accountId }, host: Host) => host.log.info(accountId));
  gateway.on('order.paid', ({ orderId }, { events }) => events.publish('note.written', { accountId: orderId }));
}
`,
    );
    const wrong = "import { defineStage } from 'daypass';\nexport const wrong = defineStage({ name: 7 });\n";
    await writeFile(join(folder, 'wrong.ts'), wrong);
    const errors = (await run(bin('tsc'))).matchAll(/^(\S+)\((\d+),\d+\): error TS/gm);
    expect([...errors].map(([, file, line]) => [file, line])).toEqual([['wrong.ts', '2']]);
    await rm(join(folder, 'wrong.ts'));
  });

  it('has them without skipLibCheck and without the settings of the package', async () => {
    const strict = join(folder, 'strict');
    await mkdir(strict, { recursive: true });
    await cp(join(folder, 'index.ts'), join(strict, 'index.ts'));
    const compilerOptions = { module: 'nodenext', target: 'esnext', strict: true, noEmit: true, skipLibCheck: false };
    await writeFile(join(strict, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['.'] }));
    expect(await run(bin('tsc'), '--project', strict)).toBe('');
  });

  it('runs its tests with node --test', async () => {
    expect(await run(process.execPath, '--test', 'index.test.ts')).toMatch(/pass 2/);
  });

  it('runs its tests with Vitest', async () => {
    const test = await readFile(join(folder, 'index.test.ts'), 'utf8');
    await mkdir(join(folder, 'vitest'), { recursive: true });
    await writeFile(
      join(folder, 'vitest', 'index.test.ts'),
      test
        .replace("import { it } from 'node:test'", "import { it } from 'vitest'")
        .replace('./index.ts', '../index.ts'),
    );
    // The runner resolves itself from the folder that it tests.
    await symlink(join(root, 'node_modules', 'vitest'), join(folder, 'node_modules', 'vitest')).catch(() => undefined);
    expect(await run(bin('vitest'), 'run', '--testTimeout=60000', '--root', folder, 'vitest/index.test.ts')).toMatch(
      /2 passed/,
    );
  });

  it('becomes a package that a gateway loads', async () => {
    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
      scripts: { build: string };
    };
    const [program = '', ...parameters] = scripts.build.split(' ');
    expect(await run(bin(program), ...parameters)).toBe('');
    const home = join(folder, 'home');
    const installed = join(home, 'node_modules', 'daypass-office-hours');
    await mkdir(installed, { recursive: true });
    for (const name of ['package.json', 'dist'])
      await cp(join(folder, name), join(installed, name), { recursive: true });
    const file = join(home, 'gateway.yaml');
    await writeFile(file, gatewayYaml(yaml.at(-1) ?? ''));
    for (const command of [packed.command, join(root, 'core', 'main.mjs')])
      expect(await run(process.execPath, command, '--config', file, 'check')).toMatch(
        /office-hours\s+from: 7, until: 18/,
      );
  });

  it('may be one that `npm init` has made, of "type": "commonjs"', async () => {
    const plain = join(folder, 'plain');
    await mkdir(join(plain, 'office-hours'), { recursive: true });
    await writeFile(join(plain, 'package.json'), '{ "name": "plain", "version": "1.0.0", "type": "commonjs" }');
    await cp(join(folder, 'index.ts'), join(plain, 'office-hours', 'index.ts'));
    // A test imports what it tests by itself, so Node.js has to know that it is a module.
    const test = await readFile(join(folder, 'index.test.ts'), 'utf8');
    await writeFile(join(plain, 'index.test.mts'), test.replace('./index.ts', './index.mts'));
    await cp(join(folder, 'index.ts'), join(plain, 'index.mts'));
    const file = join(plain, 'gateway.yaml');
    await writeFile(file, gatewayYaml(yaml[0]?.split('pipeline:')[0] ?? ''));
    for (const command of [packed.command, join(root, 'core', 'main.mjs')])
      expect(await run(process.execPath, command, '--config', file, 'check')).toMatch(
        /office-hours\s+from: 7, until: 18/,
      );
    expect(await run(process.execPath, '--test', join(plain, 'index.test.mts'))).toMatch(/pass 2/);
  });
});

it('docs/plugins.md shows lines of gateway.yaml that are valid', async () => {
  await mkdir(join(folder, 'office-hours'), { recursive: true });
  await cp(join(folder, 'index.ts'), join(folder, 'office-hours', 'index.ts'));
  const file = join(folder, 'gateway.yaml');
  await writeFile(file, gatewayYaml(yaml[0]?.split('pipeline:')[0] ?? ''));
  expect(await run(process.execPath, join(root, 'core', 'main.mjs'), '--config', file, 'check')).toContain('is valid');
});

/** A whole file, with the list of plugins from the page and the stage that they bring. */
function gatewayYaml(plugins: string): string {
  const stage = yaml[0]?.split('pipeline:')[1] ?? '';
  return `${plugins}\nupstreams: {}\nmodels: {}\npipeline:${stage}  - plan\n  - format\n  - upstream\n  - log\n`;
}
