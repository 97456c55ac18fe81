/**
 * Holds things that outlive a configuration: connection pools, breakers, journals. The first to ask makes them, everybody
 * after gets the same, and they are released when the process stops, last made first.
 */
export class Keeper implements AsyncDisposable {
  readonly #kept = new Map<string, object>();

  keep<T extends object>(key: string, create: () => T): T {
    const known = this.#kept.get(key);
    if (known !== undefined) return known as T;
    const made = create();
    this.#kept.set(key, made);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = [];
    for (const kept of [...this.#kept.values()].toReversed()) {
      try {
        if (Symbol.asyncDispose in kept) await (kept as AsyncDisposable)[Symbol.asyncDispose]();
        else if (Symbol.dispose in kept) (kept as Disposable)[Symbol.dispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    this.#kept.clear();
    if (errors.length > 0) throw new AggregateError(errors, 'parts of the gateway could not be released');
  }
}
