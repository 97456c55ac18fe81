import type { Services } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

const releaseTimeoutMs = 10_000;

/**
 * Holds objects that outlive a configuration: connection pools, breakers, journals. The first caller creates an object, later callers
 * get the same one, and all are released when the process stops, newest first.
 */
export class Keeper implements AsyncDisposable {
  readonly #kept = new Map<string, object>();
  #tentative = new Set<string>(); // keys that only the configuration being built has asked for

  /**
   * Returns `keep` for one configuration. Until that configuration serves, `undo` releases the objects that no other configuration
   * has asked for.
   */
  forBuild(undo: AsyncDisposableStack): Services['keep'] {
    const own = new Set<string>();
    this.#tentative = own;
    undo.defer(() => this.#release([...own]));
    return (key, create) => this.keep(key, create, own);
  }

  keep<T extends object>(key: string, create: () => T, own?: Set<string>): T {
    const known = this.#kept.get(key);
    if (known !== undefined) {
      if (this.#tentative !== own) this.#tentative.delete(key);
      return known as T;
    }
    const made = create();
    this.#kept.set(key, made);
    own?.add(key);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#release([...this.#kept.keys()]);
  }

  /** @throws AggregateError of all failures, once every object was released */
  async #release(keys: readonly string[]): Promise<void> {
    const errors: unknown[] = [];
    for (const key of keys.toReversed()) {
      const kept = this.#kept.get(key) ?? {};
      this.#kept.delete(key);
      try {
        if (Symbol.asyncDispose in kept) await released(key, kept as AsyncDisposable);
        else if (Symbol.dispose in kept) (kept as Disposable)[Symbol.dispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'some resources of the gateway could not be released');
  }
}

async function released(key: string, kept: AsyncDisposable): Promise<void> {
  const late = `${key} was not released within ${releaseTimeoutMs / 1000} s`;
  await withDeadline(Promise.resolve(kept[Symbol.asyncDispose]()), releaseTimeoutMs, late);
}
