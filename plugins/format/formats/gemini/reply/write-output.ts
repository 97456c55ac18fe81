import {
  type Block,
  type BlockHead,
  type Citation,
  type CompleteReply,
  type FinishReason,
  type ImageBlock,
  paragraphBreak,
} from '../../../canonical/reply.ts';
import { toArgumentsObject } from '../../../canonical/tools.ts';
import type {
  GeminiFunctionCall,
  GeminiCandidate,
  GeminiGrounding,
  GeminiGroundingChunk,
  GeminiGroundingSource,
  GeminiGroundingSupport,
  GeminiPart,
  GeminiSegment,
} from '../../../wire/gemini.ts';
import type { Editable } from '../../../wire/loose.ts';
import { missingSignatureMark, encodeSignature } from '../request/thought-signature.ts';

type CallBlock = Extract<Block, { type: 'tool_call' }>;

/**
 * Encodes blocks as parts. The thoughts' signature goes on the next call, where most clients keep it, even if a text comes before the call.
 * If no call follows, it goes on the last text or, if that was already sent, on an empty text after the reply, as Google does. Sources:
 * Gemini docs, "Thought signatures"; Gemini CLI.
 */
export class PartWriter {
  readonly #showsThoughts: boolean;
  readonly #isWhole: boolean;
  #pendingSignature = '';
  /** The last text after the thoughts that the signature belongs to. */
  #lastText: Editable<GeminiPart> | undefined;
  #hasCalled = false;
  #isWithinText = false;

  /** @param isWhole false for a stream, whose parts are sent one by one */
  constructor(showsThoughts: boolean, isWhole: boolean) {
    this.#showsThoughts = showsThoughts;
    this.#isWhole = isWhole;
  }

  writeDelta(head: BlockHead, text: string): GeminiPart[] {
    const { type } = head;
    if (type === 'tool_call' || type === 'image') return [];
    if (type === 'reasoning') return this.#showsThoughts ? [...this.placeSignature(), { text, thought: true }] : [];
    this.#lastText = { text: this.#separate(head, text) };
    return [this.#lastText];
  }

  #separate(head: BlockHead, text: string): string {
    // Clients concatenate a reply's texts.
    const separator = this.#isWithinText ? '' : selectSeparator(head);
    this.#isWithinText = true;
    return separator + text;
  }

  writeEnd(block: Block): GeminiPart[] {
    this.#isWithinText = false;
    if (block.type === 'tool_call') return [this.#writeCall(block)];
    if (block.type === 'image') return [{ ...writeImage(block), ...this.#takeSignature() }];
    if (block.type !== 'reasoning') return [];
    const previousSignature = this.placeSignature();
    this.#pendingSignature = block.state;
    this.#lastText = undefined;
    return previousSignature;
  }

  /** Like `finish`, but returns nothing if there is no signature to place. */
  placeSignature(): GeminiPart[] {
    return this.#pendingSignature === '' ? [] : this.finish();
  }

  /** Puts the signature, if any, on the last text. If there is no text or it was already sent, returns an empty text with the signature. */
  finish(): GeminiPart[] {
    if (this.#lastText === undefined || !this.#isWhole) return [{ text: '', ...this.#takeSignature() }];
    Object.assign(this.#lastText, this.#takeSignature());
    return [];
  }

  #writeCall(block: CallBlock): GeminiPart {
    const isFirst = !this.#hasCalled;
    this.#hasCalled = true;
    return {
      functionCall: writeCall(block),
      // Google rejects a history without a signature on its first call.
      ...(isFirst && { thoughtSignature: missingSignatureMark }),
      ...this.#takeSignature(),
    };
  }

  #takeSignature(): GeminiPart {
    const signature = this.#pendingSignature;
    this.#pendingSignature = '';
    return signature === '' ? {} : { thoughtSignature: encodeSignature(signature) };
  }
}

export function selectSeparator(head: BlockHead): string {
  return head.type === 'text' && head.isParagraph === true ? paragraphBreak : '';
}

function writeImage({ source }: ImageBlock): GeminiPart {
  if (source.type === 'url') return { fileData: { fileUri: source.url } };
  return { inlineData: { mimeType: source.mediaType, data: source.data } };
}

function writeCall(call: CallBlock): GeminiFunctionCall {
  const { id, name } = call;
  return { id, name, args: toArgumentsObject(call) };
}

const finishReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  stop_sequence: 'STOP',
  length: 'MAX_TOKENS',
  context_length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
  pause: 'MAX_TOKENS',
};

/** A refusal always gets its own reason, even if the vendor reports an ordinary end. */
export function writeFinish({ blocks, finish }: CompleteReply): string {
  const isRefusal = finish === 'stop' && blocks.some(({ type }) => type === 'refusal');
  return finishReasons[isRefusal ? 'content_filter' : finish];
}

/** Positions are byte offsets in the reply's text. */
export function writeGrounding({ blocks }: CompleteReply): GeminiCandidate {
  const chunks = new Map<string, GeminiGroundingChunk>();
  const supports: GeminiGroundingSupport[] = [];
  let textBefore = '';
  for (const block of blocks) {
    if (block.type !== 'text') continue;
    if (block.isParagraph === true) textBefore += paragraphBreak;
    for (const citation of block.citations) {
      if (!chunks.has(citation.url)) chunks.set(citation.url, writeSource(citation));
      const segment = writeSegment(citation, textBefore, block.text);
      const index = [...chunks.keys()].indexOf(citation.url);
      if (segment !== undefined) supports.push({ segment, groundingChunkIndices: [index] });
    }
    textBefore += block.text;
  }
  if (chunks.size === 0) return {};
  const groundingMetadata: GeminiGrounding = { groundingChunks: [...chunks.values()], groundingSupports: supports };
  return { groundingMetadata };
}

function writeSource({ url, title }: Citation): GeminiGroundingChunk {
  const web: GeminiGroundingSource = { uri: url, ...(title !== undefined && { title }) };
  return { web };
}

function writeSegment({ start, end }: Citation, before: string, text: string): GeminiSegment | undefined {
  if (start === undefined || end === undefined || start < 0 || end > text.length || start >= end) return undefined;
  const startIndex = Buffer.byteLength(before + text.slice(0, start));
  const segment = text.slice(start, end);
  return { startIndex, endIndex: startIndex + Buffer.byteLength(segment), text: segment };
}
