/** Sockets of one network whose keys nobody knows. */
const most = 16;

/** Counts the sockets of clients whose keys are not known. */
export class Strangers {
  readonly #sockets = new Map<string, number>(); // by network

  /** @returns what ends the count of this one; undefined when there are too many */
  admit(network: string): (() => void) | undefined {
    const count = this.#sockets.get(network) ?? 0;
    if (count >= most) return undefined;
    this.#sockets.set(network, count + 1);
    let isCounted = true;
    return () => {
      if (isCounted) this.#forget(network);
      isCounted = false;
    };
  }

  #forget(network: string): void {
    const left = (this.#sockets.get(network) ?? 0) - 1;
    if (left > 0) this.#sockets.set(network, left);
    else this.#sockets.delete(network);
  }
}
