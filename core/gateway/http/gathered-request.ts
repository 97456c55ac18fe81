import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { nextPacketTurn } from '#core/platform/timing/turn.ts';

const { IncomingMessage } = process.getBuiltinModule('node:http'); // as in listener.ts

/** Smaller chunks are gathered; the gathered bytes are passed on at `flushBytes`. */
const smallChunkBytes = 1_024;
const flushBytes = 65_536;
const maxUngathered = 16; // most bodies have one small chunk
/** Small chunks after which a client waits for a turn: a packet of 64 KB may contain 10,000, which take about 10 ms. */
const maxChunksPerTurn = 4_096;
/** Maximum wait of gathered bytes while a reader is active, so that it sees that the body is still arriving. */
const maxWaitMs = 100;

/**
 * A request whose body arrives in chunks of reasonable size, however the client splits it. Node allocates about 400 bytes per chunk, and
 * buffers 64 KB of payload before it pauses the client: 28 MB for one connection that sends single bytes, before anything reads the body.
 * Small chunks are joined here, the only place common to all readers of a body: ours, hapi's for forms, and none.
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
    if (this.#gathering?.isResting === true) this.#gathering.isReadPending = true;
    else super._read(size);
  }

  #gather(chunk: Buffer): boolean {
    const gathering = (this.#gathering ??= new Gathering());
    gathering.bytes.add(chunk);
    if (this.#smallChunks % maxChunksPerTurn === 0 && !gathering.isResting) this.#pauseClient(gathering);
    // Returning false pauses the client until a reader asks for more.
    if (gathering.isResting) return false;
    if (gathering.bytes.size >= flushBytes || this.#isAwaited(gathering)) return this.#pass(gathering);
    return this.#hasRoom(gathering);
  }

  /** Pauses the client even without a reader; otherwise up to 32 packets per connection would be parsed in one turn. */
  #pauseClient(gathering: Gathering): void {
    gathering.isResting = true;
    nextPacketTurn()
      .then(() => this.#resume(gathering))
      .catch((error: Error) => this.destroy(error));
  }

  #resume(gathering: Gathering): void {
    gathering.isResting = false;
    const hasRoom = this.#hasRoom(gathering);
    if (this.readableFlowing !== null) this.#pass(gathering);
    if (!this.complete && (gathering.isReadPending || hasRoom)) this.socket.resume();
    gathering.isReadPending = false;
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
  isReadPending = false;
}
