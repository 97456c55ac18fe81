import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Server } from '@hapi/hapi';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import type { Language, Texts } from '#core/web/texts/texts.ts';
import { explainFailure, importPlugin } from './import-plugin.ts';
import type { GatewayPlugin } from './plugin.ts';

const builtInFolder = join(import.meta.dirname, '..', '..', 'plugins');
const registerTimeoutMs = 10_000;

/**
 * Registers the built-in plugins: every folder in `plugins/`, with the page texts in its `texts/`. `npm run check:pages` checks that all
 * languages have the same texts.
 */
export async function registerOwnPlugins(server: Server): Promise<void> {
  const indexFile = `index${extname(import.meta.filename)}`;
  const folders = (await readdir(builtInFolder)).toSorted().map((name) => join(builtInFolder, name));
  for (const folder of folders.filter((path) => existsSync(join(path, indexFile)))) {
    const { plugin } = (await import(pathToFileURL(join(folder, indexFile)).href)) as { plugin: GatewayPlugin };
    await register(server, plugin);
    addTexts(server, folder);
  }
}

function addTexts({ gateway }: Server, pluginFolder: string): void {
  const folder = join(pluginFolder, 'texts');
  if (!existsSync(join(folder, 'en.json'))) return;
  const read = (language: Language) =>
    JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8')) as Texts[Language];
  gateway.texts({ en: read('en'), id: read('id') });
}

async function register(server: Server, plugin: GatewayPlugin): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`\`register\` has not finished after ${registerTimeoutMs / 1000} s`)),
    registerTimeoutMs,
  );
  try {
    await server.gateway.registerAs(nameOf(plugin), () => Promise.race([server.register(plugin), timeout]));
  } finally {
    clearTimeout(timer);
  }
}

function nameOf(plugin: GatewayPlugin): string {
  return 'pkg' in plugin ? String(plugin.pkg.name) : plugin.name;
}

/**
 * Registers a third-party plugin and the stages that its module exports.
 *
 * @throws PluginMissing
 * @throws Error naming the plugin's mistake, the file and the line
 */
export async function registerForeignPlugin(server: Server, specifier: string, configFile: string): Promise<void> {
  const { exports, file } = await importPlugin(specifier, configFile);
  const stages = Object.values(exports).filter(isStageDefinition);
  const plugin = toPlugin(exports, specifier, stages);
  const { gateway } = server;
  const earlierStages = new Set(gateway.stages.keys());
  const earlierTexts = gateway.pageTexts.length;
  gateway.foreignPlugins.set(nameOf(plugin), file);
  try {
    await register(server, plugin);
    // Only an index file owns its folder's texts: a file with any other name may share the folder with other plugins.
    if (gateway.pageTexts.length === earlierTexts && /^index\.[cm]?[jt]s$/.test(basename(file)))
      addTexts(server, dirname(file));
    // Registers any exported stage that the plugin's `register` did not register.
    for (const stage of stages) if (gateway.stages.get(stage.name) !== stage) gateway.stage(stage);
    for (const name of gateway.stages.keys()) if (!earlierStages.has(name)) gateway.foreignStages.add(name);
  } catch (error) {
    throw new Error(explainFailure(error), { cause: error });
  }
}

function toPlugin(
  module: Record<string, unknown>,
  specifier: string,
  stages: readonly AnyStageDefinition[],
): GatewayPlugin {
  const { plugin } = module;
  if (isPlugin(plugin)) return plugin;
  if (stages.length === 0) throw new Error('exports neither a hapi plugin named "plugin" nor a stage');
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
