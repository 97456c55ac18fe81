const joinThreshold = 4_096; // characters

/**
 * Collects text that arrives in pieces. V8 represents a string built with `+=` as a tree, with a node of 64 bytes per piece, until the
 * whole is read. Pieces are therefore joined, which copies each character once.
 */
export class CollectedText {
  #joined = '';
  #pieces: string[] = [];
  #pending = 0; // characters in #pieces
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get text(): string {
    return this.#pieces.length === 0 ? this.#joined : this.#joined + this.#pieces.join('');
  }

  add(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#pending += piece.length;
    this.#length += piece.length;
    if (this.#pending < joinThreshold) return;
    this.#joined += this.#pieces.join('');
    this.#pieces = [];
    this.#pending = 0;
  }
}
