import type { Plugin } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import type { Registry } from './registry.ts';

declare module '@hapi/hapi' {
  interface Server {
    /** Registers stages, sections, endpoints, pages, tables, jobs and more. */
    readonly gateway: Registry;
    /**
     * Returns the host of the current configuration, for handlers.
     *
     * @throws Error before the gateway has started
     */
    host(): Host;
  }
}

/**
 * A hapi plugin, exported by its module as `plugin`. Its `register` only adds to `server.gateway`, or to `server.route` for hapi
 * routes. It opens connections, timers and files in `create`, jobs and handlers instead.
 */
export type GatewayPlugin = Plugin<void>;
