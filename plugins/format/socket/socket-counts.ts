/** Counts open sockets by owner, which is an account or a network. */
export class SocketCounts {
  readonly #counts = new Map<string, number>();

  /** Returns a function that removes the socket from the count; undefined if the owner has reached the limit. */
  addSocket(owner: string, limit: number): (() => void) | undefined {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= limit) return undefined;
    this.#counts.set(owner, count + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#removeSocket(owner);
      isOpen = false;
    };
  }

  #removeSocket(owner: string): void {
    const remainingCount = (this.#counts.get(owner) ?? 0) - 1;
    if (remainingCount > 0) this.#counts.set(owner, remainingCount);
    else this.#counts.delete(owner);
  }
}
