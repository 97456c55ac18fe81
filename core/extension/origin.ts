import { dirname, sep } from 'node:path';
import { isOwnSource, placesOf } from './stack.ts';

/** Third-party plugins by name, with the files of their modules. */
export type ForeignPlugins = ReadonlyMap<string, string>;

/** The third-party plugin that an error comes from, as far as its stack tells. */
export function pluginOf(error: unknown, plugins: ForeignPlugins): string | undefined {
  for (const { file } of placesOf(error)) {
    const names = [...plugins.keys()];
    const name =
      names.find((one) => plugins.get(one) === file) ??
      names.find((one) => file.startsWith(rootOf(plugins.get(one) as string)));
    if (name !== undefined) return name;
  }
  return undefined;
}

/** True unless the innermost source that the stack names is the gateway's own, or there are no third-party plugins. */
export function isForeignRejection(error: unknown, plugins: ForeignPlugins): boolean {
  const [innermost] = placesOf(error);
  return plugins.size > 0 && (innermost === undefined || !isOwnSource(innermost));
}

/** The folder of a package, or the folder of a file that is not in one. */
function rootOf(file: string): string {
  return /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+[\\/]/.exec(file)?.[0] ?? dirname(file) + sep;
}
