import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Module files of the third-party plugins, by plugin name. */
export type ForeignPlugins = ReadonlyMap<string, string>;

/** Finds the third-party plugin that caused an error, from the error's stack. */
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

/** Returns true if third-party plugins are loaded and the innermost source in the stack, if any, is not the gateway's own. */
export function isForeignRejection(error: unknown, plugins: ForeignPlugins): boolean {
  const [innermost] = parseStackLocations(error);
  return plugins.size > 0 && (innermost === undefined || !isOwnSource(innermost));
}

/** Returns the folder of the file's package, or the file's own folder if it belongs to no package. */
function findPackageFolder(file: string): string {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(file)?.[0] ?? dirname(file) + sep;
}

/** A line of a source file. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
}

const gatewayFolder = fileURLToPath(new URL('../../', import.meta.url));
const locationPattern = /(?<=[\s(]|file:\/\/|^)(\/[^\s():]+|[A-Za-z]:[\\/][^\s():]+):(\d+)/gm;

/** Returns the source locations in an error's stack, innermost first, excluding the gateway's dependencies. */
export function parseStackLocations(error: unknown): SourceLocation[] {
  return error instanceof Error ? parseLocations(error.stack ?? '') : [];
}

/** Parses the source locations in a text in V8's notation, excluding the gateway's dependencies. */
export function parseLocations(text: string): SourceLocation[] {
  return [...text.matchAll(locationPattern)]
    .map(([, file = '', line]) => ({ file: decodeURI(file), line: Number(line) }))
    .filter(({ file }) => !isInDependency(file));
}

const packageFolder = gatewayFolder.replace(/(?<=[\\/])dist[\\/]$/, '');
/** npm installs a package's dependencies inside its folder, or next to it among other packages. */
const ownPackages = join(packageFolder, 'node_modules') + sep;
const siblingPackages = dirname(packageFolder) + sep;

function isInDependency(file: string): boolean {
  if (file.startsWith(ownPackages)) return true;
  if (!siblingPackages.endsWith(`node_modules${sep}`) || !file.startsWith(siblingPackages)) return false;
  const [name = ''] = file.slice(siblingPackages.length).split(sep);
  return readDependencies().has(name);
}

/** Reads the names of the gateway's dependencies, or their scopes, from its package.json. */
function readDependencies(): ReadonlySet<string> {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  const { dependencies = {} } = JSON.parse(text) as { readonly dependencies?: Record<string, string> };
  return new Set(Object.keys(dependencies).map((name) => name.split('/')[0] ?? name));
}

/** Returns true for core and for the plugins that come with the gateway. */
export function isOwnSource({ file }: SourceLocation): boolean {
  return file.startsWith(`${gatewayFolder}core/`) || file.startsWith(`${gatewayFolder}plugins/`);
}
