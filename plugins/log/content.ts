import { hintOfApiKey, isApiKey } from '#core/accounts/api-key.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import { startOf } from './record-line.ts';

/** Bytes looked at beyond what is kept, so that a key is seen as a whole before the cut goes through it. */
const slack = 128;

/** Digits behind the prefix: of a whole key, and of the shortest piece that is treated as one. */
const keyDigits = { whole: 49, fewest: 16 };

/** The beginning of an answer as it is sent. Copies what it keeps, and keeps no more than it may. */
export class Excerpt {
  readonly #chunks: Buffer[] = [];
  #room: number;
  #isOver = false;

  constructor(maxBytes: number) {
    this.#room = maxBytes + slack;
  }

  readonly add = (chunk: string | Buffer): void => {
    if (this.#isOver || chunk.length === 0) return;
    this.#isOver = chunk.length > this.#room;
    // No character of a string is less than a byte.
    const copy = Buffer.from(this.#isOver ? (chunk.slice(0, this.#room) as string) : (chunk as string));
    this.#chunks.push(copy);
    this.#room = Math.max(0, this.#room - copy.length);
  };

  read(): { readonly bytes: Buffer; readonly isOver: boolean } {
    return { bytes: Buffer.concat(this.#chunks), isOver: this.#isOver };
  }
}

/**
 * Writes the lines of the journal that hold what was said: a line for the request's body, when a stage has read it, and
 * one for the answer's. Texts travel in base64, so that a line is ASCII and its length has a bound whatever they say.
 */
export class ContentLines {
  readonly #maxBytes: number;
  readonly #prefix: string;
  readonly #key: RegExp;
  readonly #keyAtEnd: RegExp;

  /** @param prefix what keys of this gateway begin with */
  constructor(maxBytes: number, prefix: string) {
    this.#maxBytes = maxBytes;
    this.#prefix = prefix;
    this.#key = new RegExp(`${prefix}_(?:(?!${prefix}_)[0-9A-Za-z]){${keyDigits.fewest},${keyDigits.whole}}`, 'g');
    this.#keyAtEnd = new RegExp(`${prefix}_[0-9A-Za-z]+$`);
  }

  of(exchange: Exchange, answer: Excerpt): string[] {
    const { received } = exchange.body;
    const isOver = received !== undefined && received.length > this.#maxBytes + slack;
    const asked = this.#line(exchange, 'request', received?.subarray(0, this.#maxBytes + slack), isOver);
    const { bytes, isOver: isAnswerOver } = answer.read();
    return [...asked, ...this.#line(exchange, 'reply', bytes, isAnswerOver)];
  }

  #line({ id, receivedAt }: Exchange, part: string, bytes: Buffer | undefined, isOver: boolean): string[] {
    if (bytes === undefined || bytes.length === 0) return [];
    const clean = Buffer.from(this.#clean(bytes, isOver));
    const kept = clean.subarray(0, endOfCharacter(clean, this.#maxBytes));
    const isCut = isOver || kept.length < clean.length;
    const head = `"id":"${id}","started_at":${receivedAt},"part":"${part}","is_cut":${isCut}`;
    return [`${startOf.content}${head},"body":"${kept.toString('base64')}"}`];
  }

  /** A text that PostgreSQL can hold, without a key. Characters that an end cuts through are left out. */
  #clean(bytes: Buffer, isOver: boolean): string {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isOver });
    const clean = text.replaceAll('\0', '\ufffd').replace(this.#key, (found, at: number) => {
      if (isApiKey(found, this.#prefix)) return hintOfApiKey(found, this.#prefix);
      // A longer name that happens to end like the prefix.
      return at > 0 && /[0-9A-Za-z]/.test(text.charAt(at - 1)) ? found : '[key]';
    });
    return isOver ? clean.replace(this.#keyAtEnd, '[key]') : clean;
  }
}

/** The largest end up to `limit` that does not go through a character. */
function endOfCharacter(text: Buffer, limit: number): number {
  if (text.length <= limit) return text.length;
  let end = limit;
  while (end > 0 && ((text[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
