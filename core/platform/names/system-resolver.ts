import { type ChildProcess, fork } from 'node:child_process';
import dns, { type LookupAddress } from 'node:dns';
import { join } from 'node:path';
import { bounds } from '../bounds.ts';
import { LagTolerantTimer } from '../timing/lag-tolerant-timer.ts';
import { Throttle } from '../timing/throttle.ts';
import type { Question, Resolve } from './names.ts';

const overdueAfterMs = 200;
const idleTimeoutMs = 60_000;
const startInterval = 5_000; // ms between starts, in case a helper exits immediately

/**
 * Resolves names with getaddrinfo, which blocks a thread until the name server responds and cannot be cancelled. Node has two threads for
 * it, so two slow names would delay all others. While a lookup is overdue, lookups therefore move to a helper process with 128 such
 * threads. Both use getaddrinfo, and thus the hosts file, nsswitch and search domains.
 */
export class SystemResolver implements Disposable {
  readonly #lookup = dns.lookup; // Node's own, read before it is replaced
  readonly #helper = new LookupHelper();
  #overdue = 0;

  readonly resolve: Resolve = async (question) => {
    if (this.#overdue === 0) return this.#resolveHere(question);
    return (await this.#helper.ask(question)) ?? this.#resolveHere(question);
  };

  [Symbol.dispose](): void {
    this.#helper.end();
  }

  async #resolveHere(question: Question): Promise<readonly LookupAddress[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LookupAddress[]>();
    let isOverdue = false;
    const timer = new LagTolerantTimer(() => {
      isOverdue = true;
      this.#overdue++;
      // The first answer wins; without a helper, the one from this process.
      this.#helper.ask(question).then((addresses) => addresses !== undefined && resolve(addresses), reject);
    });
    timer.start(overdueAfterMs);
    const { hostname, ...options } = question;
    this.#lookup(hostname, { ...withoutUndefined(options), all: true }, (error, addresses) => {
      timer.stop();
      if (isOverdue) this.#overdue--;
      if (error === null) resolve(addresses);
      else reject(error);
    });
    return promise;
  }
}

interface HelperAnswer {
  readonly id: number;
  readonly addresses?: LookupAddress[];
  readonly code?: string;
}

class LookupHelper {
  readonly #questions = new Map<number, PromiseWithResolvers<readonly LookupAddress[] | undefined>>();
  readonly #starts = new Throttle(startInterval);
  #child: ChildProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** @returns undefined if no helper can start because the system lacks processes, memory or file descriptors */
  async ask(question: Question): Promise<readonly LookupAddress[] | undefined> {
    this.#child ??= this.#start();
    if (this.#child === undefined) return undefined;
    clearTimeout(this.#idle);
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<readonly LookupAddress[] | undefined>();
    this.#questions.set(id, answer);
    this.#child.send({ ...withoutUndefined(question), id }, () => undefined);
    return answer.promise;
  }

  end(): void {
    const child = this.#child;
    this.#child = undefined;
    clearTimeout(this.#idle);
    if (child?.connected === true) child.disconnect();
    for (const { resolve } of this.#questions.values()) resolve(undefined);
    this.#questions.clear();
  }

  #start(): ChildProcess | undefined {
    if (!this.#starts.pass()) return undefined;
    try {
      const child = fork(join(import.meta.dirname, 'lookup-helper.mjs'), [], {
        // libuv limits lookups to half of the threads.
        env: { ...process.env, UV_THREADPOOL_SIZE: String(2 * bounds.nameLookups) },
        execArgv: ['--disable-sigusr1'],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const onEnd = () => this.#child === child && this.end();
      child.on('message', (answer) => this.#receive(answer as HelperAnswer));
      child.on('error', onEnd).on('exit', onEnd).on('disconnect', onEnd);
      // The helper must not keep the process running; pending questions have timers.
      child.unref();
      child.channel?.unref();
      return child;
    } catch {
      return undefined;
    }
  }

  #receive({ id, addresses, code }: HelperAnswer): void {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    if (addresses !== undefined) question?.resolve(addresses);
    else question?.reject(Object.assign(new Error(`getaddrinfo ${code}`), { code }));
    if (this.#questions.size === 0) this.#idle = setTimeout(() => this.end(), idleTimeoutMs).unref();
  }
}

/** `dns.lookup` rejects options that are undefined. */
function withoutUndefined<T extends { readonly order?: unknown }>({ order, ...others }: T) {
  return order === undefined ? others : { ...others, order };
}
