import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { acceptModuleSyntax } from './module-format.ts';
import { isOwnSource, placesOf, readPlaces, type SourcePlace } from './origin.ts';

const importTimeoutMs = 10_000;

interface ImportedPlugin {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly file: string; // symbolic links resolved
}

/** No file or package of that name exists; a plugin that exists and fails throws a plain Error. */
export class PluginMissing extends Error {
  override readonly name = 'PluginMissing';
}

/**
 * Imports a file, named by a path that begins with `./`, `../` or `/` and is relative to gateway.yaml, or a package.
 *
 * @param timeout ms
 * @throws PluginMissing; Error with the mistake, the file and the line
 */
export async function importPlugin(
  specifier: string,
  configFile: string,
  timeout: number = importTimeoutMs,
): Promise<ImportedPlugin> {
  const isFile = /^\.{0,2}\//.test(specifier);
  try {
    const importing = isFile
      ? importFile(resolve(dirname(configFile), specifier))
      : importPackage(specifier, pathToFileURL(resolve(configFile)).href);
    // The timer also keeps the process alive, which would exit while only an `await` of the plugin is pending.
    const late = `it has not finished loading after ${timeout / 1000} s; a top-level await may wait forever`;
    return await withDeadline(importing, timeout, late);
  } catch (error) {
    if (error instanceof PluginMissing) throw error;
    const isMissing = codeOf(error) === 'ERR_MODULE_NOT_FOUND' && String(error).includes(`'${specifier}'`);
    throw new (isMissing ? PluginMissing : Error)(await explainImport(error, configFile, specifier), { cause: error });
  }
}

/** Returns the error's message, followed by the line of the plugin's source that it comes from. */
export function explainFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const place = placesOf(error).find((one) => !isOwnSource(one));
  return place === undefined ? message : `${message} (${place.file}:${place.line})`;
}

async function importFile(file: string): Promise<ImportedPlugin> {
  if (!existsSync(file)) throw new PluginMissing(`file ${file} not found`);
  acceptModuleSyntax();
  if (statSync(file).isDirectory()) throw new Error(explainFolder(file));
  return { exports: (await import(pathToFileURL(file).href)) as Record<string, unknown>, file };
}

function explainFolder(folder: string): string {
  const found = readdirSync(folder).find((name) => /^index\.[cm]?[jt]s$/.test(name));
  if (found !== undefined) return `${folder} is a folder; name its file ${found} as well`;
  return `${folder} is a folder without an index.ts or index.js; name the file that exports the plugin`;
}

async function importPackage(name: string, importer: string): Promise<ImportedPlugin> {
  let file = name;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name || context.parentURL !== import.meta.url) return next(specifier, context);
      const found = resolveFrom(importer) ?? next(specifier, context);
      if (found.url.startsWith('file:')) file = fileURLToPath(found.url);
      return found;

      function resolveFrom(parentURL: string): ReturnType<typeof next> | undefined {
        try {
          return next(specifier, { ...context, parentURL });
        } catch (error) {
          // The package may be installed next to the gateway instead.
          if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') return undefined;
          throw error;
        }
      }
    },
  });
  try {
    return { exports: (await import(name)) as Record<string, unknown>, file };
  } finally {
    hooks.deregister();
  }
}

async function explainImport(error: unknown, configFile: string, specifier: string): Promise<string> {
  const code = codeOf(error);
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'packages must be JavaScript: Node does not run TypeScript inside node_modules';
  if (code === 'ERR_MODULE_NOT_FOUND') return error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
  if (!(error instanceof SyntaxError)) return explainFailure(error);
  const place = await findSyntaxError(configFile, specifier);
  return place === undefined ? error.message : `${error.message} (${place.file}:${place.line})`;
}

/** Node reports the position of a syntax error only on exit, so a child process imports the plugin. */
async function findSyntaxError(configFile: string, specifier: string): Promise<SourcePlace | undefined> {
  const run = promisify(execFile);
  const hooks = JSON.stringify(import.meta.resolve('#core/extension/self-reference.ts'));
  const resolver = `data:text/javascript,import { resolveSelfReference } from ${hooks}; resolveSelfReference();`;
  const parameters = ['--import', resolver, '--input-type=module', '--eval', `import ${JSON.stringify(specifier)}`];
  const options = { cwd: dirname(resolve(configFile)), timeout: 10_000 };
  const stderr = await run(process.execPath, parameters, options).then(
    () => '',
    (failure: { readonly stderr?: string }) => failure.stderr ?? '',
  );
  return readPlaces(stderr)[0];
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
