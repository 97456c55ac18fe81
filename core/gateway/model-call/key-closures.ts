import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '../host/host.ts';
import type { Closing } from './closing-words.ts';
import { keyDigest } from './key-digest.ts';

/** Whether a vendor closed a key, as checked by requests on this instance. */
export interface KeyClosure {
  readonly id: string;
  /** Monotonic ms until which requests do not use the key; 0 while it is open. */
  until: number;
  /** Monotonic ms when this instance learned that it was closed. */
  since?: number;
}

/** Time in which responses to requests sent before a closure may arrive. */
const inFlightMs = 60_000;

/** A rejection that closes a key. */
export interface ReportedClosure {
  readonly upstream: string; // name
  readonly closing: Closing;
  /** The vendor's message, without secrets. */
  readonly words: string;
  /** Id of the request. */
  readonly request: string;
}

/** Stores closed keys for all instances. Must not throw. */
interface ClosureKeeper {
  /** @returns ms until requests may try the key again */
  closed(closure: KeyClosure, report: ReportedClosure): number;
  /** The vendor served a request with the key. */
  opened(closure: KeyClosure): void;
}

/** Keys closed by their vendors. Without a keeper, no key counts as closed: it cools down like any rejected key. */
export class KeyClosures {
  keeper: ClosureKeeper | undefined;
  readonly #known = new Map<string, KeyClosure>();
  readonly #monotonic: () => number;

  constructor({ monotonic }: Pick<Host, 'monotonic'>) {
    this.#monotonic = monotonic;
  }

  /** Closure of a key. Always the same object for the same key and host, even across upstreams. */
  of(upstream: Pick<Upstream, 'baseUrl' | 'name'>, key: string): KeyClosure {
    return this.named(keyDigest(upstream, key));
  }

  named(id: string): KeyClosure {
    const known = this.#known.get(id) ?? { id, until: 0 };
    this.#known.set(id, known);
    return known;
  }

  /** All closures known to this process, including open ones. */
  all(): Iterable<KeyClosure> {
    return this.#known.values();
  }

  /** @returns false without a keeper: the key cools down instead */
  report(closure: KeyClosure, report: ReportedClosure): boolean {
    if (this.keeper === undefined) return false;
    const now = this.#monotonic();
    // Further requests in flight may report it again.
    if (closure.until <= now) {
      closure.since = now;
      closure.until = now + this.keeper.closed(closure, report);
    }
    return true;
  }

  /** The vendor accepted the key. */
  accepted(closure: KeyClosure): void {
    // Responses to requests sent before the closure may still arrive.
    if (this.#monotonic() - (closure.since ?? -Infinity) < inFlightMs) return;
    closure.until = 0;
    this.keeper?.opened(closure);
  }
}

export function keyClosures(host: Pick<Host, 'keep' | 'monotonic'>): KeyClosures {
  return host.keep('key-closures', () => new KeyClosures(host));
}
