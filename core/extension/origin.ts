import { readFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Third-party plugins by name, with the files of their modules. */
export type ForeignPlugins = ReadonlyMap<string, string>;

/** Finds the third-party plugin that caused an error, by its stack. */
export function pluginOf(error: unknown, plugins: ForeignPlugins): string | undefined {
  for (const { file } of placesOf(error)) {
    const names = [...plugins.keys()];
    const name =
      names.find((plugin) => plugins.get(plugin) === file) ??
      names.find((plugin) => file.startsWith(rootOf(plugins.get(plugin) as string)));
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Returns false if the innermost source in the stack is the gateway's own, or if there are no third-party plugins. */
export function isForeignRejection(error: unknown, plugins: ForeignPlugins): boolean {
  const [innermost] = placesOf(error);
  return plugins.size > 0 && (innermost === undefined || !isOwnSource(innermost));
}

/** Folder of the file's package, or of the file itself if it is outside of any package. */
function rootOf(file: string): string {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(file)?.[0] ?? dirname(file) + sep;
}

/** A line of a source file. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
}

const gatewayFolder = fileURLToPath(new URL('../../', import.meta.url));
const place = /(?<=[\s(]|file:\/\/|^)(\/[^\s():]+|[A-Za-z]:[\\/][^\s():]+):(\d+)/gm;

/** Returns source lines in an error's stack, innermost first, without those of packages that the gateway depends on. */
export function placesOf(error: unknown): SourcePlace[] {
  if (!(error instanceof Error)) return [];
  return readPlaces(error.stack ?? '');
}

/** Reads source lines from a text in V8's notation. */
export function readPlaces(text: string): SourcePlace[] {
  return [...text.matchAll(place)]
    .map(([, file = '', line]) => ({ file: decodeURI(file), line: Number(line) }))
    .filter(({ file }) => !isOfDependency(file));
}

const packageFolder = gatewayFolder.replace(/(?<=[\\/])dist[\\/]$/, '');
/** npm installs a package's dependencies inside of it, or next to it among other packages. */
const ownPackages = join(packageFolder, 'node_modules') + sep;
const siblingPackages = dirname(packageFolder) + sep;

/** True for files of the gateway's dependencies, by name or scope in its package.json. */
function isOfDependency(file: string): boolean {
  if (file.startsWith(ownPackages)) return true;
  if (!siblingPackages.endsWith(`node_modules${sep}`) || !file.startsWith(siblingPackages)) return false;
  const [name = ''] = file.slice(siblingPackages.length).split(sep);
  return dependencies().has(name);
}

function dependencies(): ReadonlySet<string> {
  const text = readFileSync(join(packageFolder, 'package.json'), 'utf8');
  const { dependencies: all = {} } = JSON.parse(text) as { readonly dependencies?: Record<string, string> };
  return new Set(Object.keys(all).map((name) => name.split('/')[0] ?? name));
}

/** Returns true for core and for the plugins that come with the gateway. */
export function isOwnSource({ file }: SourcePlace): boolean {
  return file.startsWith(`${gatewayFolder}core/`) || file.startsWith(`${gatewayFolder}plugins/`);
}
