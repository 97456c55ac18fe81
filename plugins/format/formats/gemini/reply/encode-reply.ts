import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ReplyContext, ReplyEncoder } from '../../../canonical/codec.ts';
import type { Block, CompleteReply, ReplyEvent } from '../../../canonical/reply.ts';
import { asCamelObject, asGenerationConfig } from '../../../wire/gemini-fields.ts';
import type {
  GeminiCandidate,
  GeminiContent,
  GeminiPart,
  GeminiReply,
  GeminiThinkingConfig,
  GeminiUsage,
} from '../../../wire/gemini.ts';
import { writeUsage } from './finish.ts';
import { PartWriter, writeFinish, writeGrounding } from './write-output.ts';

/**
 * Encodes a `generateContent` reply. Every chunk has usage and the last one a finish reason, because clients treat a stream without them as
 * broken. Sources: Gemini API reference, "GenerateContentResponse"; what Gemini CLI requires.
 */
export class GeminiEncoder implements ReplyEncoder {
  readonly #context: ReplyContext;
  readonly #parts: PartWriter;
  #usage: GeminiUsage = writeUsage({});
  /** All calls must be in one content, and clients keep every chunk as a separate content, so calls wait for the next chunk. */
  #heldCalls: GeminiPart[] = [];

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#parts = new PartWriter(wantsThoughts(context.request), false);
  }

  encodeEvent(event: ReplyEvent): string {
    switch (event.type) {
      case 'start':
        // LangChain JS adds up all chunks' cached tokens and keeps the largest prompt count, so cached tokens and estimates come last.
        this.#usage = writeUsage(event.usage.isEstimated === true ? {} : { input: event.usage.input });
        return '';
      case 'block_delta':
        return this.#writeChunk(this.#parts.writeDelta(event.block, event.text));
      case 'block_stop':
        return this.#finishBlock(event.block);
      case 'finish':
        return writeEvent(
          this.#writeReply([...this.#heldCalls, ...finishParts(this.#parts, this.#heldCalls)], event.reply),
        );
      default:
        // Citations are sent at the end.
        return '';
    }
  }

  encodeWhole(reply: CompleteReply): GeminiReply {
    const writer = new PartWriter(wantsThoughts(this.#context.request), true);
    const parts = reply.blocks.flatMap((block) => [...writeText(writer, block), ...writer.writeEnd(block)]);
    return this.#writeReply([...parts, ...finishParts(writer, parts)], reply);
  }

  encodeFailure(error: GatewayError): string {
    return renderStreamError(error, { id: `req_${this.#context.id}`, format: undefined, dialect: 'google' });
  }

  #finishBlock(block: Block): string {
    const parts = this.#parts.writeEnd(block);
    if (block.type !== 'tool_call') return this.#writeChunk(parts);
    this.#heldCalls.push(...parts);
    return '';
  }

  #writeChunk(parts: readonly GeminiPart[]): string {
    if (parts.length === 0) return '';
    const contentParts = [...this.#heldCalls, ...parts];
    this.#heldCalls = [];
    return writeEvent({
      candidates: [{ content: writeContent(contentParts), index: 0 }],
      ...this.#writeEnvelope(this.#usage),
    });
  }

  #writeReply(parts: readonly GeminiPart[], reply: CompleteReply): GeminiReply {
    const candidate: GeminiCandidate = {
      content: writeContent(parts),
      finishReason: writeFinish(reply),
      index: 0,
      ...writeGrounding(reply),
    };
    return { candidates: [candidate], ...this.#writeEnvelope(writeUsage(reply.usage)) };
  }

  #writeEnvelope(usageMetadata: GeminiUsage): GeminiReply {
    const { id, model } = this.#context;
    return { usageMetadata, modelVersion: model, responseId: id };
  }
}

function finishParts(writer: PartWriter, parts: readonly GeminiPart[]): GeminiPart[] {
  // A content must have a part, and the signature must be on one.
  return parts.length === 0 ? writer.finish() : writer.placeSignature();
}

function writeContent(parts: readonly GeminiPart[]): GeminiContent {
  return { role: 'model', parts: [...parts] };
}

function writeText(writer: PartWriter, block: Block): GeminiPart[] {
  return block.type === 'tool_call' || block.type === 'image' || block.text === ''
    ? []
    : writer.writeDelta(block, block.text);
}

/** Returns true if the client asked for thoughts. Other clients would mistake them for text. */
export function wantsThoughts(request: JsonObject): boolean {
  return asCamelObject<GeminiThinkingConfig>(asGenerationConfig(request).thinkingConfig).includeThoughts === true;
}

function writeEvent(chunk: GeminiReply): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
