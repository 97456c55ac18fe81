import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const root = resolve(import.meta.dirname, '..', '..');
const run = promisify(execFile);
/** npm runs on its launcher's Node.js, here the first one on the PATH. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };

export interface PackedGateway extends AsyncDisposable {
  readonly folder: string; // temporary; its `node_modules/daypass` is the package
  readonly command: string;
  readonly tarball: string;
  install(folder: string): Promise<void>;
}

const buildTimeoutMs = 240_000; // of another file of the run

/**
 * Builds and packs the gateway, once per run, and installs the package as npm would, except for the dependencies: those of the checkout are
 * linked, so neither a registry nor a minute of time is needed.
 */
export async function packGateway(): Promise<PackedGateway> {
  const shared = inject('packageFolder');
  const tarball = await packOnce(shared);
  const folder = await mkdtemp(join(tmpdir(), 'daypass-packed-'));
  const install = async (target: string) => {
    const installed = join(target, 'node_modules', 'daypass');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
    await symlink(join(root, 'node_modules'), join(installed, 'node_modules'));
  };
  await install(folder);
  return {
    folder,
    command: join(folder, 'node_modules', 'daypass', 'dist', 'core', 'main.mjs'),
    tarball,
    install,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The first file that gets here builds and packs; the others wait for it. */
async function packOnce(shared: string): Promise<string> {
  const result = join(shared, 'result.json');
  const isFirst = await mkdir(join(shared, 'begun')).then(
    () => true,
    () => false,
  );
  if (isFirst) {
    const outcome = await build(join(shared, 'staged'))
      .then(() => pack(shared))
      .then(
        (tarball) => ({ tarball }),
        (error: unknown) => ({ failure: String(error) }),
      );
    await writeFile(`${result}.new`, JSON.stringify(outcome));
    await rename(`${result}.new`, result);
  }
  for (const until = performance.now() + buildTimeoutMs; performance.now() < until; await setTimeout(100)) {
    const text = await readFile(result, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    const { tarball, failure } = JSON.parse(text) as { readonly tarball?: string; readonly failure?: string };
    if (tarball === undefined) throw new Error(`the package could not be made: ${failure}`);
    return tarball;
  }
  throw new Error(`the package was not made within ${buildTimeoutMs / 1000} s`);
}

async function pack(shared: string): Promise<string> {
  const to = await mkdtemp(join(shared, 'tarball-'));
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', to], {
    cwd: join(shared, 'staged'),
    env,
    maxBuffer: 64 * 1024 * 1024,
  });
  return join(to, /"filename": "([^"]+)"/.exec(stdout)?.[1] ?? '');
}

/** Builds what `npm pack` finds in a checkout after `npm run build`, without touching the checkout's own build. */
async function build(staged: string): Promise<void> {
  await mkdir(staged, { recursive: true });
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'tsconfig.plugin.json', 'docs', 'deploy'])
    await cp(join(root, name), join(staged, name), {
      recursive: true,
      filter: (path) => !path.includes('screenshots'),
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  await run(process.execPath, [join(root, '.ci', 'build.ts'), join(staged, 'dist')], { cwd: root, env });
}
