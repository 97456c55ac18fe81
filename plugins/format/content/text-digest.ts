import { createHash, hash, type Hash } from 'node:crypto';

/** Characters from which a text is hashed in pieces. Shorter texts, as in most answers, are hashed in one call, at half the cost. */
const pieceLength = 4_096;
/** Separates a text from data hashed after it: UTF-8 never has this byte. */
const separator = Buffer.from([0xff]);

/** SHA-256 over the UTF-8 of a text of any length that arrives in pieces. Keeps the last 4 KB of the text. */
export class TextDigest {
  #hash: Hash | undefined;
  #pending = '';
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** The text; undefined if it was too long to be kept. */
  get kept(): string | undefined {
    return this.#hash === undefined ? this.#pending : undefined;
  }

  add(text: string): void {
    if (text === '') return;
    this.#isEmpty = false;
    this.#pending += text;
    if (this.#pending.length >= pieceLength && this.#pending.length > text.length) this.#flush();
  }

  /** The digest in hexadecimal. @param behind data hashed after the text */
  digest(behind = ''): string {
    if (this.#hash === undefined && behind === '') return hash('sha256', this.#pending);
    const all = (this.#hash?.copy() ?? createHash('sha256')).update(this.#pending);
    return (behind === '' ? all : all.update(separator).update(behind)).digest('hex');
  }

  /** Hashes the pending text, but keeps the first half of a surrogate pair, whose second half may arrive in the next piece. */
  #flush(): void {
    const last = this.#pending.charCodeAt(this.#pending.length - 1);
    const end = last >= 0xd800 && last <= 0xdbff ? this.#pending.length - 1 : this.#pending.length;
    (this.#hash ??= createHash('sha256')).update(this.#pending.slice(0, end));
    this.#pending = this.#pending.slice(end);
  }
}
