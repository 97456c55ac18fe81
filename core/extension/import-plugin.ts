import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { withDeadline } from '#core/platform/timing/deadline.ts';
import { acceptModuleSyntax } from './module-format.ts';
import { isOwnSource, parseLocations, type SourceLocation, parseStackLocations } from './origin.ts';

const importTimeoutMs = 10_000;

interface ImportedPlugin {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly file: string; // path with symbolic links resolved
}

/** Thrown if there is no such file or package. A plugin that exists but fails to load throws a plain Error. */
export class PluginMissing extends Error {
  override readonly name = 'PluginMissing';
}

/**
 * Imports a plugin from a file or a package. A specifier that begins with `./`, `../` or `/` is a path, relative to gateway.yaml.
 *
 * @throws PluginMissing
 * @throws Error naming the mistake, the file and the line
 */
export async function importPlugin(
  specifier: string,
  configFile: string,
  timeoutMs: number = importTimeoutMs,
): Promise<ImportedPlugin> {
  const isFile = /^\.{0,2}\//.test(specifier);
  try {
    const importResult = isFile
      ? importFile(resolve(dirname(configFile), specifier))
      : importPackage(specifier, pathToFileURL(resolve(configFile)).href);
    // The timer also keeps the process alive: Node would exit if only the plugin's top-level `await` were pending.
    const timeoutMessage = `it has not finished loading after ${timeoutMs / 1000} s; a top-level await may never settle`;
    return await withDeadline(importResult, timeoutMs, timeoutMessage);
  } catch (error) {
    if (error instanceof PluginMissing) throw error;
    const isMissing = codeOf(error) === 'ERR_MODULE_NOT_FOUND' && String(error).includes(`'${specifier}'`);
    throw new (isMissing ? PluginMissing : Error)(await explainImport(error, configFile, specifier), { cause: error });
  }
}

/** Returns the error's message, followed by the line of plugin code that raised it, if the stack shows one. */
export function explainFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return appendLocation(
    message,
    parseStackLocations(error).find((location) => !isOwnSource(location)),
  );
}

function appendLocation(message: string, location: SourceLocation | undefined): string {
  return location === undefined ? message : `${message} (${location.file}:${location.line})`;
}

async function importFile(file: string): Promise<ImportedPlugin> {
  if (!existsSync(file)) throw new PluginMissing(`file ${file} not found`);
  acceptModuleSyntax();
  if (statSync(file).isDirectory()) throw new Error(explainFolder(file));
  return { exports: (await import(pathToFileURL(file).href)) as Record<string, unknown>, file };
}

function explainFolder(folder: string): string {
  const indexFile = readdirSync(folder).find((name) => /^index\.[cm]?[jt]s$/.test(name));
  if (indexFile !== undefined) return `${folder} is a folder; name its file ${indexFile} as well`;
  return `${folder} is a folder without an index.ts or index.js; name the file that exports the plugin`;
}

async function importPackage(name: string, importerUrl: string): Promise<ImportedPlugin> {
  let file = name;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name || context.parentURL !== import.meta.url) return next(specifier, context);
      const resolveFromImporter = () => {
        try {
          return next(specifier, { ...context, parentURL: importerUrl });
        } catch (error) {
          if (codeOf(error) === 'ERR_MODULE_NOT_FOUND') return undefined;
          throw error;
        }
      };
      // The package may be installed next to the gateway instead.
      const resolution = resolveFromImporter() ?? next(specifier, context);
      if (resolution.url.startsWith('file:')) file = fileURLToPath(resolution.url);
      return resolution;
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
  return appendLocation(error.message, await findSyntaxError(configFile, specifier));
}

async function findSyntaxError(configFile: string, specifier: string): Promise<SourceLocation | undefined> {
  // Runs in a child process, because Node reports the location of a syntax error only when it exits.
  const selfReference = JSON.stringify(import.meta.resolve('#core/extension/self-reference.ts'));
  const preload = `data:text/javascript,import { resolveSelfReference } from ${selfReference}; resolveSelfReference();`;
  const args = ['--import', preload, '--input-type=module', '--eval', `import ${JSON.stringify(specifier)}`];
  const options = { cwd: dirname(resolve(configFile)), timeout: importTimeoutMs };
  const stderr = await promisify(execFile)(process.execPath, args, options).then(
    () => '',
    (failure: { readonly stderr?: string }) => failure.stderr ?? '',
  );
  return parseLocations(stderr)[0];
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
