import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Main module files of the third-party plugins, by plugin name. */
export type ForeignPlugins = ReadonlyMap<string, string>;

/** Returns the third-party plugin that caused an error, judging by the error's stack. */
export function findFailedPlugin(error: unknown, plugins: ForeignPlugins): string | undefined {
  for (const { file } of parseStackLocations(error)) {
    const names = [...plugins.keys()];
    const name =
      names.find((plugin) => plugins.get(plugin) === file) ??
      names.find((plugin) => file.startsWith(findPackageFolder(plugins.get(plugin) as string)));
    if (name !== undefined) return name;
  }
  return undefined;
}

/**
 * Returns true if a third-party plugin may have caused a rejection: at least one is loaded, and the innermost frame of the stack is not in
 * the gateway's own code. An empty stack counts.
 */
export function isForeignRejection(error: unknown, plugins: ForeignPlugins): boolean {
  const [innermost] = parseStackLocations(error);
  return plugins.size > 0 && (innermost === undefined || !isOwnSource(innermost));
}

function findPackageFolder(file: string): string {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(file)?.[0] ?? dirname(file) + sep;
}

export interface SourceLocation {
  readonly file: string;
  readonly line: number;
}

const gatewayFolder = fileURLToPath(new URL('../../', import.meta.url));
const locationPattern = /(?<=[\s(]|file:\/\/|^)(\/[^\s():]+|[A-Za-z]:[\\/][^\s():]+):(\d+)/gm;

/** Returns the source locations in an error's stack, innermost first. Frames in the gateway's dependencies are skipped. */
export function parseStackLocations(error: unknown): SourceLocation[] {
  return error instanceof Error ? parseLocations(error.stack ?? '') : [];
}

/** Frames in the gateway's dependencies are skipped. */
export function parseLocations(text: string): SourceLocation[] {
  return [...text.matchAll(locationPattern)]
    .map(([, file = '', line]) => ({ file: decodeURI(file), line: Number(line) }))
    .filter(({ file }) => !isInDependency(file));
}

const packageFolder = gatewayFolder.replace(/(?<=[\\/])dist[\\/]$/, '');
// npm installs a package's dependencies inside its folder, or hoists them next to it, among other packages.
const ownPackages = join(packageFolder, 'node_modules') + sep;
const siblingPackages = dirname(packageFolder) + sep;

function isInDependency(file: string): boolean {
  if (file.startsWith(ownPackages)) return true;
  if (!siblingPackages.endsWith(`node_modules${sep}`) || !file.startsWith(siblingPackages)) return false;
  const [name = ''] = file.slice(siblingPackages.length).split(sep);
  return readDependencies().has(name);
}

function readDependencies(): ReadonlySet<string> {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  const { dependencies = {} } = JSON.parse(text) as { readonly dependencies?: Record<string, string> };
  return new Set(Object.keys(dependencies).map((name) => name.split('/')[0] ?? name));
}

/** Returns true for core and the built-in plugins. */
export function isOwnSource({ file }: SourceLocation): boolean {
  return file.startsWith(`${gatewayFolder}core/`) || file.startsWith(`${gatewayFolder}plugins/`);
}
