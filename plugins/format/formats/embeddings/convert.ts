import { estimateTokenCount } from 'tokenx';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { asCamelObject } from '../../wire/gemini-fields.ts';
import { asList, asCount, scalarToNumber, withoutUndefined } from '../../wire/members.ts';
import { invalidValue } from '../../wire/read.ts';

/** A request for vectors, read from either format. */
export interface EmbeddingRequest {
  readonly inputs: readonly string[];
  readonly dimensions: JsonValue | undefined;
}

type VectorEncoding = 'float' | 'base64';

const openaiMembers = new Set(['model', 'input', 'dimensions', 'encoding_format']);

/**
 * Reads a request in OpenAI's format. Notes members that Google's format cannot express.
 *
 * @throws GatewayError `invalid_request`, or `unsupported_content` if an input is not a text
 */
export function readOpenaiRequest(body: JsonObject, notes: Notes): EmbeddingRequest {
  const { input, dimensions } = body;
  notes.dropUnknown(body, openaiMembers);
  const inputs = typeof input === 'string' ? [input] : asList(input);
  if (inputs.length === 0) throw invalidValue('input', 'a string or a list with at least one entry');
  return { inputs: inputs.map((text, index) => readInput(text, index)), dimensions };
}

function readInput(input: JsonValue, index: number): string {
  if (input === '') throw invalidValue(`input[${index}]`, 'non-empty');
  if (typeof input === 'string') return input;
  if (typeof input !== 'number' && !Array.isArray(input)) throw invalidValue(`input[${index}]`, 'a string');
  const message = 'This model accepts text, not tokens, because its route uses a different tokenizer.';
  throw new GatewayError('unsupported_content', message, { param: 'input' });
}

/** Writes a batch request in Google's format, which also works for a single input. */
export function writeGeminiRequest({ inputs, dimensions }: EmbeddingRequest, model: string): JsonObject {
  const requests = inputs.map((text) =>
    withoutUndefined({ model: `models/${model}`, content: { parts: [{ text }] }, outputDimensionality: dimensions }),
  );
  return { requests };
}

const geminiMembers = new Set(['model', 'content', 'outputDimensionality']);

/**
 * Reads a single or a batch request in Google's format. Notes members that OpenAI's format cannot express.
 *
 * @throws GatewayError `invalid_request`, or `unsupported_content` if a part is not a text
 */
export function readGeminiRequest(body: JsonObject, notes: Notes): EmbeddingRequest {
  const singleRequest = asCamelObject(body);
  const batchEntries = singleRequest['requests'];
  const requests =
    batchEntries === undefined ? [singleRequest] : asList(batchEntries).map((request) => asCamelObject(request));
  const [first] = requests;
  if (first === undefined) throw invalidValue('requests', 'a list with at least one entry');
  const dimensions = first['outputDimensionality'];
  if (requests.some(({ outputDimensionality }) => outputDimensionality !== dimensions))
    throw invalidValue(
      'requests.outputDimensionality',
      'the same in every request, because this model’s route accepts only one value',
    );
  for (const request of requests) notes.dropUnknown(request, geminiMembers);
  return { inputs: requests.map(({ content }, index) => readText(content, index)), dimensions };
}

function readText(content: JsonValue | undefined, index: number): string {
  const parts = asList(asCamelObject(content)['parts']).map((part) => asCamelObject(part)['text']);
  if (parts.length === 0) throw invalidValue(`requests[${index}].content.parts`, 'a list with at least one entry');
  if (parts.every((text) => text === ''))
    throw invalidValue(`requests[${index}].content.parts`, 'a list with a non-empty text');
  if (parts.every((text) => typeof text === 'string')) return parts.join('\n');
  throw new GatewayError('unsupported_content', 'This model creates embeddings only for text.', { param: 'content' });
}

export function writeOpenaiRequest({ inputs, dimensions }: EmbeddingRequest, model: string): JsonObject {
  return withoutUndefined({ model, input: [...inputs], encoding_format: 'float', dimensions });
}

/** Converts a reply from Google's format to OpenAI's. Estimates the token count, because Google usually reports none. */
export function toOpenaiReply(body: JsonObject, request: EmbeddingRequest, encoding: VectorEncoding): JsonObject {
  const vectors = asList(body['embeddings']).map((embedding) => asCamelObject(embedding)['values'] ?? []);
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: encoding === 'base64' ? encodeVector(asList(vector)) : vector,
  }));
  const reportedTokens = asCount(asCamelObject(body['usageMetadata'])['promptTokenCount']);
  const tokens = reportedTokens ?? request.inputs.reduce((sum, text) => sum + estimateTokenCount(text), 0);
  return { object: 'list', data, model: '', usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Encodes a vector as base64 of little-endian 32-bit floats. Source: OpenAI API reference, `encoding_format`. */
export function encodeVector(vector: readonly JsonValue[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(scalarToNumber(value), index * 4));
  return bytes.toString('base64');
}

/** @param isBatch true for a batch request, even with one entry */
export function toGeminiReply(body: JsonObject, isBatch: boolean): JsonObject {
  const entries = asList(body['data']).map((entry) => asCamelObject(entry));
  const sorted = entries.toSorted((a, b) => scalarToNumber(a['index'] ?? 0) - scalarToNumber(b['index'] ?? 0));
  const vectors = sorted.map(({ embedding }) => ({ values: decodeVector(embedding) }));
  const tokens = asCamelObject(body['usage'])['promptTokens'];
  const usage = tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens } };
  return isBatch ? { embeddings: vectors, ...usage } : { embedding: vectors[0] ?? { values: [] }, ...usage };
}

/** Decodes a vector that may be base64. Some servers send base64 regardless of the request. */
export function decodeVector(embedding: JsonValue | undefined): JsonValue {
  if (typeof embedding !== 'string') return [...asList(embedding)];
  const bytes = Buffer.from(embedding, 'base64');
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}
