import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import type { Logger } from '../logger.ts';
import { NameCache, type LookupRequest } from './name-cache.ts';
import { SystemResolver } from './system-resolver.ts';

type Callback = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

const cacheByLookup = new WeakMap<typeof dns.lookup, NameCache>();

/**
 * Replaces `dns.lookup` for the whole process. Every connection to a host name uses it: undici, PostgreSQL, Redis, mail, sign-in and
 * payment providers, `fetch`, and third-party plugins. Disposing restores the original.
 */
export function installNameCache(log: Logger): Disposable {
  const original = dns.lookup;
  const system = new SystemResolver();
  const cache = new NameCache(system.resolve, log);
  const lookup = Object.assign(createLookup(cache, original), copySymbols(original));
  cacheByLookup.set(lookup, cache);
  replaceLookup(lookup);
  return {
    [Symbol.dispose]() {
      replaceLookup(original);
      system[Symbol.dispose]();
    },
  };
}

/** Forces a new lookup when the name is next used. Call it if no connection to the name's addresses could be opened. */
export function expireName(hostname: string): void {
  cacheByLookup.get(dns.lookup)?.expire(hostname);
}

/** Returns the start times (`performance.now()`) of current lookup failures; see `NameCache.listFailures`. */
export function listNameFailures(): readonly number[] {
  return cacheByLookup.get(dns.lookup)?.listFailures() ?? [];
}

/** Creates a `dns.lookup` that resolves host names with `cache`, and passes everything else, such as IP addresses, to the original. */
export function createLookup(cache: Pick<NameCache, 'find'>, original: typeof dns.lookup): typeof dns.lookup {
  const lookup = (hostname: string, optionsOrCallback: LookupOptions | number | Callback, lastParameter?: Callback) => {
    const callback = typeof optionsOrCallback === 'function' ? optionsOrCallback : lastParameter;
    const options = readOptions(optionsOrCallback);
    if (callback === undefined || typeof hostname !== 'string' || hostname === '' || isIP(hostname) !== 0)
      return original(hostname, options, callback as never);
    const deliver = (addresses: readonly LookupAddress[]) => {
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address, first?.family);
    };
    cache.find(createRequest(hostname, options)).then(
      // An error in a callback must not become a rejection.
      (addresses) => process.nextTick(deliver, addresses),
      (error: Error) => process.nextTick(callback, error),
    );
  };
  return lookup as typeof dns.lookup;
}

function readOptions(optionsOrCallback: LookupOptions | number | Callback): LookupOptions {
  if (typeof optionsOrCallback === 'function') return {};
  return typeof optionsOrCallback === 'number' ? { family: optionsOrCallback } : (optionsOrCallback ?? {});
}

function createRequest(hostname: string, { family, hints = 0, order, verbatim }: LookupOptions): LookupRequest {
  return { hostname: hostname.toLowerCase(), family: mapFamily(family), hints, order: order ?? mapVerbatim(verbatim) };
}

function mapVerbatim(verbatim: boolean | undefined): LookupOptions['order'] {
  if (verbatim === undefined) return undefined;
  return verbatim ? 'verbatim' : 'ipv4first';
}

function mapFamily(family: LookupOptions['family']): number {
  if (family === 'IPv4') return 4;
  return family === 'IPv6' ? 6 : (family ?? 0);
}

function replaceLookup(lookup: typeof dns.lookup): void {
  dns.lookup = lookup;
  syncBuiltinESMExports();
}

/** `util.promisify` needs the symbols, because the callback has two results. */
function copySymbols(lookup: typeof dns.lookup): object {
  const values = lookup as unknown as Readonly<Record<symbol, unknown>>;
  return Object.fromEntries(Object.getOwnPropertySymbols(lookup).map((symbol) => [symbol, values[symbol]]));
}
