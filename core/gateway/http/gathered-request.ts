import { CollectedBytes } from '#core/platform/memory/collected-bytes.ts';
import { nextPacketTurn } from '#core/platform/timing/turn.ts';

const { IncomingMessage } = process.getBuiltinModule('node:http'); // as in listener.ts

const smallChunkBytes = 1_024;
const flushBytes = 65_536;
const maxUngathered = 16; // most bodies have one small chunk
const maxChunksPerTurn = 4_096; // a packet of 64 KB may contain 10,000 chunks, which take about 10 ms
const maxDelayMs = 100; // an active reader would soon consider the body stalled

class GatheredChunks {
  readonly bytes = new CollectedBytes();
  flushedAt = 0; // performance.now()
  isPaused = false;
  isReadPending = false; // the reader requested data during the pause
}

/**
 * A request whose body arrives in chunks of reasonable size, however the client splits it. Node allocates about 400 bytes per chunk, and
 * buffers 64 KB of payload before it pauses the client. That is 28 MB for one connection that sends single bytes, even if the body is never
 * read. Small chunks are joined here, so that this works for our body reader, for hapi's form reader and for unread bodies alike.
 */
export class GatheredRequest extends IncomingMessage {
  #smallChunkCount = 0;
  #gathering: GatheredChunks | undefined;

  override push(chunk: Buffer | null): boolean {
    if (chunk !== null && chunk.length < smallChunkBytes && ++this.#smallChunkCount > maxUngathered)
      return this.#gather(chunk);
    if (this.#gathering !== undefined) this.#flush(this.#gathering);
    return super.push(chunk);
  }

  override read(size?: number): unknown {
    if (this.#gathering?.isPaused === false) this.#flush(this.#gathering);
    return super.read(size) as unknown;
  }

  override _read(size: number): void {
    if (this.#gathering?.isPaused === true) this.#gathering.isReadPending = true;
    else super._read(size);
  }

  #gather(chunk: Buffer): boolean {
    const gathering = (this.#gathering ??= new GatheredChunks());
    gathering.bytes.add(chunk);
    if (this.#smallChunkCount % maxChunksPerTurn === 0 && !gathering.isPaused) this.#pauseClient(gathering);
    // Returning false pauses the client until a reader requests more.
    if (gathering.isPaused) return false;
    if (gathering.bytes.size >= flushBytes || this.#isFlushDue(gathering)) return this.#flush(gathering);
    return this.#hasRoom(gathering);
  }

  #pauseClient(gathering: GatheredChunks): void {
    // Even without a reader: otherwise up to 32 packets per connection would be parsed in one turn.
    gathering.isPaused = true;
    nextPacketTurn()
      .then(() => this.#resume(gathering))
      .catch((error: Error) => this.destroy(error));
  }

  #resume(gathering: GatheredChunks): void {
    gathering.isPaused = false;
    const hasRoom = this.#hasRoom(gathering);
    if (this.readableFlowing !== null) this.#flush(gathering);
    if (!this.complete && (gathering.isReadPending || hasRoom)) this.socket.resume();
    gathering.isReadPending = false;
  }

  #flush(gathering: GatheredChunks): boolean {
    if (gathering.bytes.size === 0) return true;
    gathering.flushedAt = performance.now();
    return super.push(gathering.bytes.take());
  }

  #hasRoom({ bytes }: GatheredChunks): boolean {
    return this.readableLength + bytes.size < this.readableHighWaterMark;
  }

  #isFlushDue({ flushedAt }: GatheredChunks): boolean {
    return this.readableFlowing === true && performance.now() - flushedAt > maxDelayMs;
  }
}
