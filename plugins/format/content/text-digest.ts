import { createHash, hash, type Hash } from 'node:crypto';

/** Characters from which a text is hashed as it comes: shorter ones are hashed in one call, which costs half, and most answers are. */
const pieceLength = 4_096;
/** Separates a text from what is hashed behind it: UTF-8 never has this byte. */
const separator = Buffer.from([0xff]);

/** SHA-256 over the UTF-8 of a text that comes in pieces, of any length. Keeps its last 4 KB. */
export class TextDigest {
  #hash: Hash | undefined;
  #pending = '';
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** The text; undefined for one that was too long to be kept. */
  get kept(): string | undefined {
    return this.#hash === undefined ? this.#pending : undefined;
  }

  add(text: string): void {
    if (text === '') return;
    this.#isEmpty = false;
    this.#pending += text;
    if (this.#pending.length >= pieceLength && this.#pending.length > text.length) this.#flush();
  }

  /** In hexadecimal digits. @param behind hashed behind the text */
  digest(behind = ''): string {
    if (this.#hash === undefined && behind === '') return hash('sha256', this.#pending);
    const all = (this.#hash?.copy() ?? createHash('sha256')).update(this.#pending);
    return (behind === '' ? all : all.update(separator).update(behind)).digest('hex');
  }

  /** The two halves of a character may come in two pieces. */
  #flush(): void {
    const last = this.#pending.charCodeAt(this.#pending.length - 1);
    const end = last >= 0xd800 && last <= 0xdbff ? this.#pending.length - 1 : this.#pending.length;
    (this.#hash ??= createHash('sha256')).update(this.#pending.slice(0, end));
    this.#pending = this.#pending.slice(end);
  }
}
