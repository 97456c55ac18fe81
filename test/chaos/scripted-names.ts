import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';

/*
 * Loaded into a gateway and its helper process before their own code. `dns.lookup` then returns what a file has for a name,
 * after its delay, and takes as many names at a time as getaddrinfo would: half of the threads of libuv. Other names are left
 * to the system.
 */

/** What the file has, by name. */
export type ScriptedNames = Readonly<Record<string, ScriptedName>>;

export interface ScriptedName {
  readonly address: string;
  /** Ms until the answer; null: there is none. */
  readonly delay?: number | null;
  /** Code of an error instead of the answer. */
  readonly code?: string;
}

type Lookup = (hostname: string, options: dns.LookupOptions, callback: (...result: unknown[]) => void) => void;

const file = process.env['SCRIPTED_NAMES'];
const system = dns.lookup as Lookup;
const waiting: (() => void)[] = [];
let free = Math.ceil(Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) / 2);

if (file !== undefined) {
  const lookup: Lookup = (hostname, options, callback) => {
    if (isIP(hostname) !== 0) return system(hostname, options, callback);
    const ask = () => answer(hostname, options, (...result) => (release(), callback(...result)));
    if (free-- > 0) ask();
    else waiting.push(ask);
  };
  dns.lookup = lookup as typeof dns.lookup;
  syncBuiltinESMExports();
}

function release(): void {
  free++;
  waiting.shift()?.();
}

function answer(hostname: string, options: dns.LookupOptions, callback: (...result: unknown[]) => void): void {
  const names = JSON.parse(readFileSync(file as string, 'utf8')) as ScriptedNames;
  const name = names[hostname];
  if (name === undefined) return system(hostname, options, callback);
  const { address, delay = 0, code } = name;
  if (delay === null) return;
  const error = code === undefined ? null : Object.assign(new Error(`getaddrinfo ${code}`), { code });
  setTimeout(() => {
    if (error === null && options.all === true) callback(null, [{ address, family: isIP(address) }]);
    else callback(error, address, isIP(address));
  }, delay);
}
