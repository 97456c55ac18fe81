import { createHash, hash, type Hash } from 'node:crypto';
import { CollectedText } from '#core/platform/memory/collected-text.ts';

const minPieceLength = 4_096; // characters; shorter texts are hashed in one call at half the cost
const separator = Buffer.from([0xff]); // never occurs in UTF-8

/** Computes the SHA-256 of a text in UTF-8 from its pieces. Keeps at most the last 4 KB of the text. */
export class TextDigest {
  #hash: Hash | undefined;
  #pending = new CollectedText();
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** The text; undefined if it was too long to be kept. */
  get text(): string | undefined {
    return this.#hash === undefined ? this.#pending.text : undefined;
  }

  add(text: string): void {
    if (text === '') return;
    this.#isEmpty = false;
    this.#pending.add(text);
    if (this.#pending.length >= minPieceLength && this.#pending.length > text.length) this.#flush();
  }

  /** Returns the digest in hexadecimal. `suffix` is hashed after the text. */
  digest(suffix = ''): string {
    if (this.#hash === undefined && suffix === '') return hash('sha256', this.#pending.text);
    const textHash = (this.#hash?.copy() ?? createHash('sha256')).update(this.#pending.text);
    return (suffix === '' ? textHash : textHash.update(separator).update(suffix)).digest('hex');
  }

  #flush(): void {
    const { text } = this.#pending;
    // The second half of a surrogate pair may arrive in the next piece.
    const lastUnit = text.charCodeAt(text.length - 1);
    const end = lastUnit >= 0xd800 && lastUnit <= 0xdbff ? text.length - 1 : text.length;
    (this.#hash ??= createHash('sha256')).update(text.slice(0, end));
    this.#pending = new CollectedText();
    this.#pending.add(text.slice(end));
  }
}
