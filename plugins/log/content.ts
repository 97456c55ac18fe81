import { isApiKey, maskApiKey } from '#core/business/accounts/api-key.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { lineStart } from './record-line.ts';

const lookaheadBytes = 128; // so that a key is recognized before truncation splits it

const keyDigits = { complete: 49, min: 16 }; // after the prefix: in a complete key, and in the shortest fragment that is redacted

/** Copies the start of a reply while the reply is sent. */
export class Excerpt {
  readonly #collected = new CollectedBytes();
  #remainingBytes: number;
  #isTruncated = false;

  constructor(maxBytes: number) {
    this.#remainingBytes = maxBytes + lookaheadBytes;
  }

  readonly add = (chunk: string | Buffer): void => {
    if (this.#isTruncated || chunk.length === 0) return;
    this.#isTruncated = chunk.length > this.#remainingBytes;
    // Each character of a string takes at least one byte.
    const copy = Buffer.from(this.#isTruncated ? (chunk.slice(0, this.#remainingBytes) as string) : (chunk as string));
    this.#collected.add(copy);
    this.#remainingBytes = Math.max(0, this.#remainingBytes - copy.length);
  };

  read(): { readonly bytes: Buffer; readonly isTruncated: boolean } {
    return { bytes: this.#collected.join(), isTruncated: this.#isTruncated };
  }
}

/** Bodies are base64, so that a line is ASCII and has a bounded length. */
export class ContentLines {
  readonly #maxBytes: number;
  readonly #keyPrefix: string;
  readonly #keyPattern: RegExp;
  readonly #keyAtEndPattern: RegExp;

  constructor(maxBytes: number, keyPrefix: string) {
    this.#maxBytes = maxBytes;
    this.#keyPrefix = keyPrefix;
    const start = `${keyPrefix}[-_]`;
    this.#keyPattern = new RegExp(`${start}(?:(?!${start})[0-9A-Za-z]){${keyDigits.min},${keyDigits.complete}}`, 'g');
    this.#keyAtEndPattern = new RegExp(`${start}[0-9A-Za-z]+$`);
  }

  createLines(exchange: Exchange, excerpt: Excerpt): string[] {
    const { received } = exchange.body;
    const maxBytes = this.#maxBytes + lookaheadBytes;
    const isRequestTruncated = received !== undefined && received.length > maxBytes;
    const { bytes, isTruncated } = excerpt.read();
    return [
      ...this.#createLine(exchange, 'request', received?.subarray(0, maxBytes), isRequestTruncated),
      ...this.#createLine(exchange, 'reply', bytes, isTruncated),
    ];
  }

  #createLine({ id, receivedAt }: Exchange, part: string, bytes: Buffer | undefined, isTruncated: boolean): string[] {
    if (bytes === undefined || bytes.length === 0) return [];
    const sanitized = Buffer.from(this.#sanitize(bytes, isTruncated));
    const body = sanitized.subarray(0, findCharacterEnd(sanitized, this.#maxBytes));
    const isCut = isTruncated || body.length < sanitized.length;
    const head = `"id":"${id}","started_at":${receivedAt},"part":"${part}","is_cut":${isCut}`;
    return [`${lineStart.content}${head},"body":"${body.toString('base64')}"}`];
  }

  #sanitize(bytes: Buffer, isTruncated: boolean): string {
    // Drops a character that truncation has split. PostgreSQL cannot store NUL.
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isTruncated });
    const redacted = text.replaceAll('\0', '\ufffd').replace(this.#keyPattern, (match, index: number) => {
      if (isApiKey(match, this.#keyPrefix)) return maskApiKey(match, this.#keyPrefix);
      // After a letter or digit, the prefix belongs to a longer name.
      return index > 0 && /[0-9A-Za-z]/.test(text.charAt(index - 1)) ? match : '[key]';
    });
    return isTruncated ? redacted.replace(this.#keyAtEndPattern, '[key]') : redacted;
  }
}

function findCharacterEnd(text: Buffer, limit: number): number {
  if (text.length <= limit) return text.length;
  let end = limit;
  while (((text[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
