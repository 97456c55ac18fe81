/** Counts the open sockets of each owner: an account or a network. */
export class SocketCounts {
  readonly #counts = new Map<string, number>();

  /** @returns a function that ends the count of the new socket; undefined if the owner has reached the limit */
  open(owner: string, most: number): (() => void) | undefined {
    const count = this.#counts.get(owner) ?? 0;
    if (count >= most) return undefined;
    this.#counts.set(owner, count + 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#close(owner);
      isOpen = false;
    };
  }

  #close(owner: string): void {
    const left = (this.#counts.get(owner) ?? 0) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
  }
}
