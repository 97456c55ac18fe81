import type { Plugin } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import type { Registry } from './registry.ts';

declare module '@hapi/hapi' {
  interface Server {
    /** Registers stages, sections, endpoints, pages, tables, jobs and more. */
    readonly gateway: Registry;
    /** Host of the current configuration, for handlers. Throws before the gateway has started. */
    host(): Host;
  }
}

/**
 * A plugin is a hapi plugin, exported by its module as `plugin`. `register` only adds to `server.gateway`, or to `server.route` for
 * hapi routes. Connections, timers and files belong in `create`, jobs and handlers.
 */
export type GatewayPlugin = Plugin<void>;
