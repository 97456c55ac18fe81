const joinThreshold = 4_096; // characters

/**
 * A text that comes in pieces and is kept until all of it is there. V8 keeps the pieces of a text that grows by `+=`, each with a
 * node of a tree: 64 bytes for a delta of eleven characters, until the whole is read. Pieces are therefore joined, which copies
 * each character once.
 */
export class CollectedText {
  #joined = '';
  #pieces: string[] = [];
  #pending = 0; // characters of the pieces
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All of it. */
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
