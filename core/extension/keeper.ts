import type { Services } from '#core/gateway/host/host.ts';
import { withDeadline } from '#core/platform/timing/deadline.ts';

const releaseTimeoutMs = 10_000;

/**
 * Holds objects that outlive a configuration: connection pools, circuit breakers, journals. The first caller creates an object and later
 * callers get the same one. All are released when the process stops, newest first.
 */
export class Keeper implements AsyncDisposable {
  readonly #objects = new Map<string, object>();
  #buildKeys = new Set<string>(); // keys requested only by the configuration being built now

  /**
   * Returns the `keep` function for the configuration being built. If the build fails, disposing `cleanup` releases the objects that no
   * other configuration has requested.
   */
  forBuild(cleanup: AsyncDisposableStack): Services['keep'] {
    const buildKeys = new Set<string>();
    this.#buildKeys = buildKeys;
    cleanup.defer(() => this.#release([...buildKeys]));
    return (key, create) => this.keep(key, create, buildKeys);
  }

  /** Returns the object with this key; the first call creates it. */
  keep<T extends object>(key: string, create: () => T, buildKeys?: Set<string>): T {
    const existing = this.#objects.get(key);
    if (existing !== undefined) {
      if (this.#buildKeys !== buildKeys) this.#buildKeys.delete(key);
      return existing as T;
    }
    const object = create();
    this.#objects.set(key, object);
    buildKeys?.add(key);
    return object;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#release([...this.#objects.keys()]);
  }

  /** @throws AggregateError with all failures, once every object has been released */
  async #release(keys: readonly string[]): Promise<void> {
    const errors: unknown[] = [];
    for (const key of keys.toReversed()) {
      const object = this.#objects.get(key) ?? {};
      this.#objects.delete(key);
      try {
        if (Symbol.asyncDispose in object) await releaseInTime(key, object as AsyncDisposable);
        else if (Symbol.dispose in object) (object as Disposable)[Symbol.dispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, 'some resources of the gateway could not be released');
  }
}

async function releaseInTime(key: string, object: AsyncDisposable): Promise<void> {
  const timeoutMessage = `${key} was not released within ${releaseTimeoutMs / 1000} s`;
  await withDeadline(Promise.resolve(object[Symbol.asyncDispose]()), releaseTimeoutMs, timeoutMessage);
}
