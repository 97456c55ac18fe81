import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import type { Logger } from '../logger.ts';
import { Names, type Question } from './names.ts';
import { SystemResolver } from './system-resolver.ts';

type Callback = (error: Error | null, address?: string | LookupAddress[], family?: number) => void;

const namesBehind = new WeakMap<typeof dns.lookup, Names>();

/**
 * Replaces `dns.lookup` for the whole process. Every connection to a host name uses it: undici, PostgreSQL, Redis, mail, sign-in and
 * payment providers, `fetch`, and third-party plugins. Disposing restores the original.
 */
export function installNames(log: Logger): Disposable {
  const original = dns.lookup;
  const system = new SystemResolver();
  const names = new Names(system.resolve, log);
  const lookup = Object.assign(createLookup(names, original), ownSymbols(original));
  namesBehind.set(lookup, names);
  replaceLookup(lookup);
  return {
    [Symbol.dispose]() {
      replaceLookup(original);
      system[Symbol.dispose]();
    },
  };
}

/** Makes the next use look the name up again. Call it if no connection could be opened to its addresses. */
export function expireName(hostname: string): void {
  namesBehind.get(dns.lookup)?.expire(hostname);
}

/** Returns the start of the failures (`performance.now()`) of each name in use that cannot be resolved. */
export function failingNames(): readonly number[] {
  return namesBehind.get(dns.lookup)?.failing() ?? [];
}

/** Creates a `dns.lookup` that resolves names with `names`, and leaves the rest, such as IP addresses, to the original. */
export function createLookup(names: Pick<Names, 'find'>, original: typeof dns.lookup): typeof dns.lookup {
  const lookup = (hostname: string, given: LookupOptions | number | Callback, last?: Callback) => {
    const callback = typeof given === 'function' ? given : last;
    const options = readOptions(given);
    if (callback === undefined || typeof hostname !== 'string' || hostname === '' || isIP(hostname) !== 0)
      return original(hostname, options, callback as never);
    const deliver = (addresses: readonly LookupAddress[]) => {
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address, first?.family);
    };
    names.find(questionOf(hostname, options)).then(
      // An error in a callback must not become a rejection.
      (addresses) => process.nextTick(deliver, addresses),
      (error: Error) => process.nextTick(callback, error),
    );
  };
  return lookup as typeof dns.lookup;
}

function readOptions(given: LookupOptions | number | Callback): LookupOptions {
  if (typeof given === 'function') return {};
  return typeof given === 'number' ? { family: given } : (given ?? {});
}

function questionOf(hostname: string, { family, hints = 0, order, verbatim }: LookupOptions): Question {
  const older = verbatim === undefined ? undefined : verbatim ? 'verbatim' : 'ipv4first';
  return { hostname: hostname.toLowerCase(), family: familyOf(family), hints, order: order ?? older };
}

function familyOf(family: LookupOptions['family']): number {
  if (family === 'IPv4') return 4;
  return family === 'IPv6' ? 6 : (family ?? 0);
}

function replaceLookup(lookup: typeof dns.lookup): void {
  dns.lookup = lookup;
  syncBuiltinESMExports();
}

/** Symbols that tell `util.promisify` that the callback has two results. */
function ownSymbols(lookup: typeof dns.lookup): object {
  const values = lookup as unknown as Readonly<Record<symbol, unknown>>;
  return Object.fromEntries(Object.getOwnPropertySymbols(lookup).map((symbol) => [symbol, values[symbol]]));
}
