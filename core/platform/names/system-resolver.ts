import { type ChildProcess, fork } from 'node:child_process';
import dns, { type LookupAddress } from 'node:dns';
import { join } from 'node:path';
import { bounds } from '../bounds.ts';
import { LagTolerantTimer } from '../timing/lag-tolerant-timer.ts';
import { Throttle } from '../timing/throttle.ts';
import type { LookupRequest, Resolve } from './name-cache.ts';

const overdueAfterMs = 200;
const idleTimeoutMs = 60_000;
const minStartIntervalMs = 5_000; // between starts, in case a helper exits immediately

/**
 * Resolves names with getaddrinfo, which blocks a thread until the name server responds and cannot be canceled. Node runs two such threads,
 * so two slow names would delay all others. While a lookup is overdue, lookups therefore move to a helper process with 128 threads. Both
 * use getaddrinfo, and thus the hosts file, nsswitch and search domains.
 */
export class SystemResolver implements Disposable {
  readonly #lookup = dns.lookup; // Node's original, read before it is replaced
  readonly #helper = new LookupHelper();
  #overdueLookups = 0;

  readonly resolve: Resolve = async (request) => {
    if (this.#overdueLookups === 0) return this.#resolveHere(request);
    return (await this.#helper.resolve(request)) ?? this.#resolveHere(request);
  };

  [Symbol.dispose](): void {
    this.#helper.end();
  }

  async #resolveHere(request: LookupRequest): Promise<readonly LookupAddress[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    let isOverdue = false;
    const timer = new LagTolerantTimer(() => {
      isOverdue = true;
      this.#overdueLookups++;
      // The first result wins. Without a helper, only this process returns one.
      this.#helper.resolve(request).then((addresses) => addresses !== undefined && resolve(addresses), reject);
    });
    timer.start(overdueAfterMs);
    const { hostname, ...options } = request;
    this.#lookup(hostname, { ...omitUndefinedOrder(options), all: true }, (error, addresses) => {
      timer.stop();
      if (isOverdue) this.#overdueLookups--;
      if (error === null) resolve(addresses);
      else reject(error);
    });
    return promise;
  }
}

interface HelperResponse {
  readonly id: number;
  readonly addresses?: LookupAddress[];
  readonly code?: string;
}

class LookupHelper {
  readonly #pending = new Map<number, PromiseWithResolvers<readonly LookupAddress[] | undefined>>();
  readonly #startThrottle = new Throttle(minStartIntervalMs);
  #child: ChildProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** @returns undefined if no helper can start, because the system lacks processes, memory or file descriptors */
  async resolve(request: LookupRequest): Promise<readonly LookupAddress[] | undefined> {
    this.#child ??= this.#start();
    if (this.#child === undefined) return undefined;
    clearTimeout(this.#idleTimer);
    const id = ++this.#lastId;
    const response = Promise.withResolvers<readonly LookupAddress[] | undefined>();
    this.#pending.set(id, response);
    this.#child.send({ ...omitUndefinedOrder(request), id }, () => undefined);
    return response.promise;
  }

  end(): void {
    const child = this.#child;
    this.#child = undefined;
    clearTimeout(this.#idleTimer);
    if (child?.connected === true) child.disconnect();
    for (const { resolve } of this.#pending.values()) resolve(undefined);
    this.#pending.clear();
  }

  #start(): ChildProcess | undefined {
    if (!this.#startThrottle.tryPass()) return undefined;
    try {
      const child = fork(join(import.meta.dirname, 'lookup-helper.mjs'), [], {
        // libuv uses at most half of the threads for lookups.
        env: { ...process.env, UV_THREADPOOL_SIZE: String(2 * bounds.nameLookups) },
        execArgv: ['--disable-sigusr1'],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const onEnd = () => this.#child === child && this.end();
      child.on('message', (response) => this.#receive(response as HelperResponse));
      child.on('error', onEnd).on('exit', onEnd).on('disconnect', onEnd);
      // The helper must not keep the process running. Timers bound pending requests.
      child.unref();
      child.channel?.unref();
      return child;
    } catch {
      return undefined;
    }
  }

  #receive({ id, addresses, code }: HelperResponse): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (addresses !== undefined) pending?.resolve(addresses);
    else pending?.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code }));
    if (this.#pending.size === 0) this.#idleTimer = setTimeout(() => this.end(), idleTimeoutMs).unref();
  }
}

function omitUndefinedOrder<T extends { readonly order?: unknown }>({ order, ...otherOptions }: T) {
  return order === undefined ? otherOptions : { ...otherOptions, order }; // `dns.lookup` rejects an undefined order
}
