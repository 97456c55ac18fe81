import type { Server as HttpServer } from 'node:http';
import type { Server } from '@hapi/hapi';
import { catalogSections } from './catalog-sections.ts';
import type { GatewayDocument } from './config/document.ts';
import { ConfigError } from './config/mistake.ts';
import { coreSections } from './config/sections.ts';
import type { Host } from './host.ts';
import { createServer } from './http/server.ts';
import type { Logger } from './logger.ts';
import { PluginMissing, registerForeignPlugin, registerOwnPlugins } from './plugins.ts';
import { Registry } from './registry.ts';

/** A hapi server with every plugin registered, and the registry they have filled. Nothing is open, nothing listens. */
export interface Assembly {
  readonly server: Server;
  readonly listener: HttpServer;
  readonly registry: Registry;
}

/**
 * Registers core's sections, the own plugins and those that gateway.yaml names.
 *
 * @throws ConfigError when a plugin of gateway.yaml cannot be loaded
 */
export async function assemble(
  document: GatewayDocument | undefined,
  log: Logger,
  host: () => Host,
): Promise<Assembly> {
  const registry = new Registry();
  for (const section of [...coreSections, ...catalogSections]) registry.section(section);
  const { server, listener } = createServer(log);
  server.decorate('server', 'gateway', registry as never);
  server.decorate('server', 'host', host as never);
  await registerOwnPlugins(server);
  for (const [index, specifier] of foreignPlugins(document).entries()) {
    try {
      await registerForeignPlugin(server, specifier, document?.file ?? '');
    } catch (error) {
      const wrong = `cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
      const right =
        error instanceof PluginMissing
          ? 'write a path that begins with ./ or the name of an installed package'
          : 'mend the plugin, or take it out of the list';
      throw document === undefined ? error : new ConfigError([document.mistake(['plugins', index], wrong, right)]);
    }
  }
  return { server, listener, registry };
}

/** Read before anything is validated, because the schema depends on them. */
function foreignPlugins(document: GatewayDocument | undefined): string[] {
  const listed = document?.values()['plugins'];
  return Array.isArray(listed) ? listed.filter((entry) => typeof entry === 'string') : [];
}
