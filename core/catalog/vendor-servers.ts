import type { Vendor } from './catalog.ts';
import { upstreams } from './sections.ts';
import type { SectionValues } from '../config/section.ts';
import type { Logger } from '../logger.ts';

/** Servers of vendors that the gateway runs itself (the demo), started when an upstream first needs them. */
export class VendorServers implements AsyncDisposable {
  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #log: Logger;
  readonly #running = new Map<string, { readonly baseUrl: string } & AsyncDisposable>();

  constructor(vendors: ReadonlyMap<string, Vendor>, log: Logger) {
    this.#vendors = vendors;
    this.#log = log;
  }

  /** The vendors, with the base URLs of those that had to be started for this configuration. */
  async running(config: SectionValues): Promise<ReadonlyMap<string, Vendor>> {
    const used = new Set(Object.values(config.get(upstreams)).map(({ vendor }) => vendor));
    const known = new Map(this.#vendors);
    for (const [name, vendor] of this.#vendors) {
      if (vendor.start === undefined || !used.has(name)) continue;
      const server = this.#running.get(name) ?? (await vendor.start({ log: this.#log }));
      this.#running.set(name, server);
      known.set(name, { ...vendor, baseUrl: server.baseUrl });
    }
    return known;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running.values()].map((server) => server[Symbol.asyncDispose]()));
  }
}
