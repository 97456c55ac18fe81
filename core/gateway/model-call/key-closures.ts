import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '../host/host.ts';
import type { Closing } from './closing-words.ts';
import { keyDigest } from './key-digest.ts';

/** Whether a vendor has closed a key, as requests ask on this instance. */
export interface KeyClosure {
  readonly id: string;
  /** Ms of the monotonic clock until which requests leave the key alone; 0 while it is open. */
  until: number;
  /** Time at which this instance saw or heard that it was closed, by the same clock. */
  since?: number;
}

/** Time in which answers of requests that were sent before a closure arrive. */
const inFlightMs = 60_000;

/** A refusal that closes a key. */
export interface ReportedClosure {
  readonly upstream: string; // name
  readonly closing: Closing;
  /** The vendor's message, without secrets. */
  readonly words: string;
  /** Id of the request. */
  readonly request: string;
}

/** Remembers closed keys, for all instances. Must not throw. */
interface ClosureKeeper {
  /** @returns ms until requests may try the key again */
  closed(closure: KeyClosure, report: ReportedClosure): number;
  /** The vendor has served a request with the key. */
  opened(closure: KeyClosure): void;
}

/** Keys closed by their vendors. Without a keeper no key counts as closed: it cools down like any refused key. */
export class KeyClosures {
  keeper: ClosureKeeper | undefined;
  readonly #known = new Map<string, KeyClosure>();
  readonly #monotonic: () => number;

  constructor({ monotonic }: Pick<Host, 'monotonic'>) {
    this.#monotonic = monotonic;
  }

  /** The closure of a key, always the same object: it is the same key wherever the host is the same. */
  of(upstream: Pick<Upstream, 'baseUrl' | 'name'>, key: string): KeyClosure {
    return this.named(keyDigest(upstream, key));
  }

  named(id: string): KeyClosure {
    const known = this.#known.get(id) ?? { id, until: 0 };
    this.#known.set(id, known);
    return known;
  }

  /** Closures that this process knows, open ones included. */
  all(): Iterable<KeyClosure> {
    return this.#known.values();
  }

  /** @returns false without a keeper: the key cools down instead */
  report(closure: KeyClosure, report: ReportedClosure): boolean {
    if (this.keeper === undefined) return false;
    const now = this.#monotonic();
    // Requests in flight report the same.
    if (closure.until <= now) {
      closure.since = now;
      closure.until = now + this.keeper.closed(closure, report);
    }
    return true;
  }

  /** The vendor has accepted the key. */
  accepted(closure: KeyClosure): void {
    // Answers to requests from before are on their way.
    if (this.#monotonic() - (closure.since ?? -Infinity) < inFlightMs) return;
    closure.until = 0;
    this.keeper?.opened(closure);
  }
}

export function keyClosures(host: Pick<Host, 'keep' | 'monotonic'>): KeyClosures {
  return host.keep('key-closures', () => new KeyClosures(host));
}
