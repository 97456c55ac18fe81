import type { Plugin } from '@hapi/hapi';
import type { Host } from '#core/gateway/host/host.ts';
import type { Registry } from './registry.ts';

declare module '@hapi/hapi' {
  interface Server {
    /** Registers stages, sections, endpoints, pages, tables, jobs and more. */
    readonly gateway: Registry;
    /**
     * Returns the host of the current configuration, for use in handlers.
     *
     * @throws Error if the gateway has not started yet
     */
    host(): Host;
  }
}

/**
 * A hapi plugin, exported by its module as `plugin`. Its `register` must only add to `server.gateway`, or add hapi routes with
 * `server.route`. Open connections, timers and files in `create`, jobs and handlers instead.
 */
export type GatewayPlugin = Plugin<void>;
