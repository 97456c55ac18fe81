import type { Vendor } from '../catalog/catalog.ts';
import { upstreams } from './upstreams-section.ts';
import type { SectionValues } from '../section.ts';
import type { Logger } from '#core/platform/logger.ts';

/** Servers of vendors that the gateway runs itself, such as the demo, started when an upstream first needs them. */
export class VendorServers implements AsyncDisposable {
  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #log: Logger;
  readonly #running = new Map<string, { readonly baseUrl: string } & AsyncDisposable>();

  constructor(vendors: ReadonlyMap<string, Vendor>, log: Logger) {
    this.#vendors = vendors;
    this.#log = log;
  }

  /**
   * Returns the vendors, with the base URLs of the servers that this configuration uses.
   *
   * @param undo stops the servers that were started for this configuration
   */
  async running(config: SectionValues, undo: AsyncDisposableStack): Promise<ReadonlyMap<string, Vendor>> {
    const used = new Set(Object.values(config.get(upstreams)).map(({ vendor }) => vendor));
    const known = new Map(this.#vendors);
    for (const [name, vendor] of this.#vendors) {
      if (vendor.start === undefined || !used.has(name)) continue;
      let server = this.#running.get(name);
      if (server === undefined) {
        server = await vendor.start({ log: this.#log });
        this.#running.set(name, server);
        undo.defer(() => this.#stop(name));
      }
      known.set(name, { ...vendor, baseUrl: server.baseUrl });
    }
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.#stop(name)));
  }

  async #stop(name: string): Promise<void> {
    const server = this.#running.get(name);
    this.#running.delete(name);
    await server?.[Symbol.asyncDispose]();
  }
}
