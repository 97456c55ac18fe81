import { isApiKey, maskApiKey } from '#core/business/accounts/api-key.ts';
import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { startOf } from './record-line.ts';

/** Read past the limit, so that a key is recognised before truncation splits it. */
const slackBytes = 128;

/** Number of digits after the prefix: in a whole key, and in the shortest fragment that is redacted. */
const keyDigits = { whole: 49, fewest: 16 };

/** Collects the beginning of a reply as it is sent, as a copy of bounded size. */
export class Excerpt {
  readonly #collected = new CollectedBytes();
  #room: number;
  #isOver = false;

  constructor(maxBytes: number) {
    this.#room = maxBytes + slackBytes;
  }

  readonly add = (chunk: string | Buffer): void => {
    if (this.#isOver || chunk.length === 0) return;
    this.#isOver = chunk.length > this.#room;
    // Each character of a string is at least one byte.
    const copy = Buffer.from(this.#isOver ? (chunk.slice(0, this.#room) as string) : (chunk as string));
    this.#collected.add(copy);
    this.#room = Math.max(0, this.#room - copy.length);
  };

  read(): { readonly bytes: Buffer; readonly isOver: boolean } {
    return { bytes: this.#collected.bytes(), isOver: this.#isOver };
  }
}

/**
 * Writes the `content` lines of the journal: one for the request, if a stage has read its body, and one for the reply. Bodies
 * are in base64, so a line is ASCII and has a bounded length.
 */
export class ContentLines {
  readonly #maxBytes: number;
  readonly #prefix: string;
  readonly #key: RegExp;
  readonly #keyAtEnd: RegExp;

  /** @param prefix of the gateway's keys */
  constructor(maxBytes: number, prefix: string) {
    this.#maxBytes = maxBytes;
    this.#prefix = prefix;
    const start = `${prefix}[-_]`;
    this.#key = new RegExp(`${start}(?:(?!${start})[0-9A-Za-z]){${keyDigits.fewest},${keyDigits.whole}}`, 'g');
    this.#keyAtEnd = new RegExp(`${start}[0-9A-Za-z]+$`);
  }

  of(exchange: Exchange, answer: Excerpt): string[] {
    const { received } = exchange.body;
    const isOver = received !== undefined && received.length > this.#maxBytes + slackBytes;
    const asked = this.#line(exchange, 'request', received?.subarray(0, this.#maxBytes + slackBytes), isOver);
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

  /** Text that PostgreSQL can store, with keys redacted. A character that truncation splits is dropped. */
  #clean(bytes: Buffer, isOver: boolean): string {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isOver });
    const clean = text.replaceAll('\0', '\ufffd').replace(this.#key, (found, index: number) => {
      if (isApiKey(found, this.#prefix)) return maskApiKey(found, this.#prefix);
      // A letter or digit before the prefix means that it is part of a longer name.
      return index > 0 && /[0-9A-Za-z]/.test(text.charAt(index - 1)) ? found : '[key]';
    });
    return isOver ? clean.replace(this.#keyAtEnd, '[key]') : clean;
  }
}

function endOfCharacter(text: Buffer, limit: number): number {
  if (text.length <= limit) return text.length;
  let end = limit;
  while (((text[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
