import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { Notes } from '../../canonical/notes.ts';
import { asList } from '../../wire/members.ts';
import type { ReplyRepair } from '../contract/pass-through.ts';
import { decodeVector, encodeVector } from './convert.ts';

const floatBytes = 4; // bytes, before base64 encoding

/**
 * Converts vectors to the encoding that the client asked for, because many servers only support one. Notes vectors that are longer than
 * requested.
 */
export class VectorRepair implements ReplyRepair {
  readonly failure = undefined;
  readonly #isBase64: boolean;
  readonly #dimensions: JsonValue | undefined;
  readonly #notes = new Notes();

  constructor({ encoding_format: encoding, dimensions }: JsonObject) {
    this.#isBase64 = encoding === 'base64';
    this.#dimensions = dimensions;
  }

  get notes(): readonly string[] {
    return this.#notes.entries;
  }

  repairEvent(event: StreamEvent): readonly StreamEvent[] {
    return [event];
  }

  repairReply(body: JsonObject): JsonObject {
    const data = asList(body['data']);
    const [first] = data;
    const vector = isJsonObject(first) ? first['embedding'] : undefined;
    if (typeof this.#dimensions === 'number' && countValues(vector) > this.#dimensions) this.#notes.drop('dimensions');
    const needsConversion = this.#isBase64 ? Array.isArray(vector) : typeof vector === 'string';
    return needsConversion ? { ...body, data: data.map((entry) => this.#convert(entry)) } : body;
  }

  #convert(entry: JsonValue): JsonValue {
    if (!isJsonObject(entry)) return entry;
    const { embedding } = entry;
    if (Array.isArray(embedding) && embedding.some((value) => typeof value !== 'number')) return entry;
    return { ...entry, embedding: this.#isBase64 ? encodeIfList(embedding) : decodeVector(embedding) };
  }
}

function encodeIfList(embedding: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(embedding) ? encodeVector(embedding) : embedding;
}

function countValues(vector: JsonValue | undefined): number {
  if (typeof vector === 'string') return Math.floor(Buffer.byteLength(vector, 'base64') / floatBytes);
  return Array.isArray(vector) ? vector.length : 0;
}
