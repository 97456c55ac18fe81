import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { Host } from '../host/host.ts';
import type { ClosureRule } from './closure-rules.ts';
import { digestKey } from './key-digest.ts';

/** Whether a vendor has closed a key, as known to this instance. Times are ms of `Host.monotonic`. */
export interface KeyClosure {
  readonly id: string;
  until: number; // requests do not use the key before this time; 0 while it is open
  since?: number; // when this instance last closed the key
}

const inFlightMs = 60_000; // responses to requests sent before a closure may arrive this much later

export interface ReportedClosure {
  readonly upstream: string; // name
  readonly rule: ClosureRule;
  readonly message: string; // the vendor's, without secrets
  readonly request: string; // id
}

/** Stores closures for all instances. Must not throw. */
interface ClosureStore {
  storeClosed(closure: KeyClosure, report: ReportedClosure): number; // ms until requests may try the key again
  storeOpened(closure: KeyClosure): void;
}

/** Keys closed by their vendors. Without a store, keys are never closed, and cool down like any rejected key. */
export class KeyClosures {
  store: ClosureStore | undefined;
  readonly #closures = new Map<string, KeyClosure>();
  readonly #monotonic: () => number;

  constructor({ monotonic }: Pick<Host, 'monotonic'>) {
    this.#monotonic = monotonic;
  }

  /** Upstreams that share the key and the host get the same object. */
  getByKey(upstream: Pick<Upstream, 'baseUrl' | 'name'>, key: string): KeyClosure {
    return this.getById(digestKey(upstream, key));
  }

  getById(id: string): KeyClosure {
    const closure = this.#closures.get(id) ?? { id, until: 0 };
    this.#closures.set(id, closure);
    return closure;
  }

  /** Includes open keys. */
  all(): Iterable<KeyClosure> {
    return this.#closures.values();
  }

  /** Closes a key. Returns false if there is no store, so that the key must cool down instead. */
  report(closure: KeyClosure, report: ReportedClosure): boolean {
    if (this.store === undefined) return false;
    const now = this.#monotonic();
    // Further requests in flight may report the same closure.
    if (closure.until <= now) {
      closure.since = now;
      closure.until = now + this.store.storeClosed(closure, report);
    }
    return true;
  }

  /** Reopens a key that the vendor has accepted. Ignored soon after a closure, because the request may have been sent before it. */
  recordAccepted(closure: KeyClosure): void {
    if (this.#monotonic() - (closure.since ?? -Infinity) < inFlightMs) return;
    closure.until = 0;
    this.store?.storeOpened(closure);
  }
}

export function getKeyClosures(host: Pick<Host, 'keep' | 'monotonic'>): KeyClosures {
  return host.keep('key-closures', () => new KeyClosures(host));
}
