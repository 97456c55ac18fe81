import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { nextPacketTurn } from '#core/platform/timing/turn.ts';

const { IncomingMessage } = process.getBuiltinModule('node:http'); // as in listener.ts

/** A smaller chunk is gathered with the next ones; the gathered bytes are passed on at this size. */
const smallChunkBytes = 1_024;
const enough = 65_536;
const maxUngathered = 16; // most bodies have one small chunk
/** Small chunks after which a client waits for a turn: one packet of 64 KB may hold 10,000, which take about 10 ms. */
const maxChunksPerTurn = 4_096;
/** Gathered bytes wait at most this long while a reader is active, so that it sees the body still arriving. */
const maxWaitMs = 100;

/**
 * A request whose body comes in chunks of some size, however its client has cut it. Node makes an object of about 400 bytes
 * for each chunk, and buffers 64 KB of them by their bytes before it pauses the client: 28 MB for one connection that sends
 * single bytes, before anything reads the body. Small chunks are copied together here, the only place that all readers of a
 * body share: ours, hapi's for forms, and none.
 */
export class GatheredRequest extends IncomingMessage {
  #smallChunks = 0;
  #gathering: Gathering | undefined;

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && chunk.length < smallChunkBytes && ++this.#smallChunks > maxUngathered)
      return this.#gather(chunk);
    if (this.#gathering !== undefined) this.#pass(this.#gathering);
    return super.push(chunk);
  }

  override read(size?: number): unknown {
    if (this.#gathering?.isResting === false) this.#pass(this.#gathering);
    return super.read(size) as unknown;
  }

  override _read(size: number): void {
    if (this.#gathering?.isResting === true) this.#gathering.isAsked = true;
    else super._read(size);
  }

  #gather(chunk: Buffer): boolean {
    const gathering = (this.#gathering ??= new Gathering());
    gathering.bytes.add(chunk);
    if (this.#smallChunks % maxChunksPerTurn === 0 && !gathering.isResting) this.#pauseClient(gathering);
    // False pauses the client until a reader asks for more.
    if (gathering.isResting) return false;
    if (gathering.bytes.size >= enough || this.#isAwaited(gathering)) return this.#pass(gathering);
    return this.#hasRoom(gathering);
  }

  /** Pauses even without a reader: up to 32 packets per connection would otherwise be parsed in one turn. */
  #pauseClient(gathering: Gathering): void {
    gathering.isResting = true;
    nextPacketTurn()
      .then(() => this.#goOn(gathering))
      .catch((error: Error) => this.destroy(error));
  }

  #goOn(gathering: Gathering): void {
    gathering.isResting = false;
    const hasRoom = this.#hasRoom(gathering);
    if (this.readableFlowing !== null) this.#pass(gathering);
    if (!this.complete && (gathering.isAsked || hasRoom)) this.socket.resume();
    gathering.isAsked = false;
  }

  #pass(gathering: Gathering): boolean {
    if (gathering.bytes.size === 0) return true;
    gathering.passedAt = performance.now();
    return super.push(gathering.bytes.take());
  }

  #hasRoom({ bytes }: Gathering): boolean {
    return this.readableLength + bytes.size < this.readableHighWaterMark;
  }

  #isAwaited({ passedAt }: Gathering): boolean {
    return this.readableFlowing === true && performance.now() - passedAt > maxWaitMs;
  }
}

class Gathering {
  readonly bytes = new CollectedBytes();
  passedAt = 0; // on the clock of performance.now()
  isResting = false;
  isAsked = false;
}
