import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Server } from '@hapi/hapi';
import type { AnyStageDefinition } from '../pipeline/stage.ts';
import type { GatewayPlugin } from './plugin.ts';

const ownFolder = join(import.meta.dirname, '..', '..', 'plugins');

/** Registers the plugins that come with the gateway: every folder in `plugins/`. */
export async function registerOwnPlugins(server: Server): Promise<void> {
  const files = await Array.fromAsync(glob('*/index.ts', { cwd: ownFolder }));
  for (const file of files.toSorted()) {
    const { plugin } = (await import(pathToFileURL(join(ownFolder, file)).href)) as { plugin: GatewayPlugin };
    await register(server, plugin);
  }
}

async function register(server: Server, plugin: GatewayPlugin): Promise<void> {
  const name = 'pkg' in plugin ? String(plugin.pkg.name) : plugin.name;
  await server.gateway.registering(name, () => server.register(plugin));
}

/** Nothing of that name is there, as opposed to a plugin that is there and does not work. */
export class PluginMissing extends Error {
  override readonly name = 'PluginMissing';
}

/**
 * Registers a plugin of somebody else: a file, named by a path that begins with `./`, `../` or `/` and is relative to
 * gateway.yaml, or an installed package.
 *
 * @throws PluginMissing, or Error that says what is wrong with the plugin
 */
export async function registerForeignPlugin(server: Server, specifier: string, configFile: string): Promise<void> {
  const module = await importForeign(specifier, configFile);
  await register(server, asPlugin(module, specifier));
}

async function importForeign(specifier: string, configFile: string): Promise<Record<string, unknown>> {
  try {
    if (/^\.{0,2}\//.test(specifier)) return await importFile(resolve(dirname(configFile), specifier));
    return await importPackage(specifier, pathToFileURL(resolve(configFile)).href);
  } catch (error) {
    if (error instanceof PluginMissing) throw error;
    const isMissing = codeOf(error) === 'ERR_MODULE_NOT_FOUND';
    throw new (isMissing ? PluginMissing : Error)(explainImport(error), { cause: error });
  }
}

async function importFile(file: string): Promise<Record<string, unknown>> {
  if (!existsSync(file)) throw new PluginMissing(`there is no file ${file}`);
  return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
}

/** Imports a package as gateway.yaml would if it were a module: from the node_modules next to it, or above. */
async function importPackage(name: string, importer: string): Promise<Record<string, unknown>> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== name || context.parentURL !== import.meta.url) return next(specifier, context);
      try {
        return next(specifier, { ...context, parentURL: importer });
      } catch (error) {
        if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
        // Perhaps it is installed where the gateway is.
        return next(specifier, context);
      }
    },
  });
  try {
    return (await import(name)) as Record<string, unknown>;
  } finally {
    hooks.deregister();
  }
}

function explainImport(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING')
    return 'packages have to be JavaScript: Node runs TypeScript only outside of node_modules';
  if (code === 'ERR_MODULE_NOT_FOUND')
    return `it could not be found: ${error instanceof Error ? error.message.split('\n')[0] : ''}`;
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** The `plugin` of a module, or one made of the stages that it exports. */
function asPlugin(module: Record<string, unknown>, specifier: string): GatewayPlugin {
  const { plugin } = module;
  if (isPlugin(plugin)) return plugin;
  const stages = Object.values(module).filter(isStageDefinition);
  if (stages.length === 0) throw new Error('it exports neither a hapi plugin called "plugin" nor a stage');
  return {
    name: specifier,
    register(server) {
      for (const stage of stages) server.gateway.stage(stage);
    },
  };
}

function isPlugin(value: unknown): value is GatewayPlugin {
  return typeof value === 'object' && value !== null && 'register' in value && typeof value.register === 'function';
}

function isStageDefinition(value: unknown): value is AnyStageDefinition {
  if (typeof value !== 'object' || value === null) return false;
  return 'name' in value && 'options' in value && 'create' in value && typeof value.create === 'function';
}
