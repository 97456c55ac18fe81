/** Counts the open sockets of each owner: an account, or a network. */
export class SocketCounts {
  readonly #counts = new Map<string, number>();

  /** @returns what ends the count of one more; undefined when the owner has as many as it may */
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
