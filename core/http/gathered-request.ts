import { IncomingMessage } from 'node:http';
import { CollectedBytes } from '../memory/collected-bytes.ts';
import { nextPacketTurn } from '../timing/turn.ts';

/** Bytes below which a chunk is gathered with those after it, and at which what is gathered is passed on. */
const small = 1_024;
const enough = 65_536;
/** Small chunks that are passed on as they come: most bodies have one. */
const passedOn = 16;
/** Small chunks after which a client waits for a turn: one packet of 64 KB may hold 10,000, which take about 10 ms. */
const atOnce = 4_096;
/** Ms for which gathered bytes may wait for more while somebody reads, who sees by them that the body still arrives. */
const longestWait = 100;

/**
 * A request whose body comes in chunks of some size, however its client has cut it. Node makes an object of about 400 bytes
 * for each chunk, and buffers 64 KB of them by their bytes before it pauses the client: 28 MB for one connection that sends
 * single bytes, before anything reads the body. Small chunks are copied together here, the only place that all readers of a
 * body share: ours, hapi's for forms, and none.
 */
export class GatheredRequest extends IncomingMessage {
  readonly #gathered = new CollectedBytes();
  #smallChunks = 0;
  #passedAt = 0; // ms, of performance.now()
  #isResting = false;
  /** Somebody has asked for more while the client waited. */
  #isAsked = false;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || chunk.length >= small) {
      this.#pass();
      return super.push(chunk);
    }
    this.#smallChunks++;
    if (this.#smallChunks <= passedOn) return super.push(chunk);
    this.#gathered.add(chunk);
    if (this.#smallChunks % atOnce === 0 && !this.#isResting) this.#rest();
    // False pauses the client until a reader asks for more.
    if (this.#isResting) return false;
    if (this.#gathered.size >= enough || this.#isAwaited()) return this.#pass();
    return this.readableLength + this.#gathered.size < this.readableHighWaterMark;
  }

  override read(size?: number): unknown {
    if (!this.#isResting) this.#pass();
    return super.read(size) as unknown;
  }

  override _read(size: number): void {
    if (this.#isResting) this.#isAsked = true;
    else super._read(size);
  }

  /** Pauses the client, with or without a reader: up to 32 packets would otherwise be parsed in one turn, for each connection. */
  #rest(): void {
    this.#isResting = true;
    nextPacketTurn()
      .then(() => this.#goOn())
      .catch((error: Error) => this.destroy(error));
  }

  #goOn(): void {
    this.#isResting = false;
    const hasRoom = this.readableLength + this.#gathered.size < this.readableHighWaterMark;
    if (this.readableFlowing !== null) this.#pass();
    if (!this.complete && (this.#isAsked || hasRoom)) this.socket.resume();
    this.#isAsked = false;
  }

  #pass(): boolean {
    if (this.#gathered.size === 0) return true;
    this.#passedAt = performance.now();
    return super.push(this.#gathered.take());
  }

  #isAwaited(): boolean {
    return this.readableFlowing === true && performance.now() - this.#passedAt > longestWait;
  }
}
