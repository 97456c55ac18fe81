import { estimateTokenCount } from 'tokenx';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { Notes } from '../../canonical/notes.ts';
import { fieldsOf } from '../../wire/gemini-fields.ts';
import { asList, count, scalarNumber, withoutUnset } from '../../wire/members.ts';
import { invalid } from '../../wire/read.ts';

/** A request for vectors, read from either format. */
export interface EmbeddingRequest {
  readonly inputs: readonly string[];
  readonly dimensions: JsonValue | undefined;
}

/** Encoding of vectors. A client that can read both gets text (base64), which OpenAI's SDKs request. */
type VectorEncoding = 'float' | 'base64';

const expressible = new Set(['model', 'input', 'dimensions', 'encoding_format']);

/** @throws GatewayError `invalid_request`, `unsupported_content` */
export function readOpenai(body: JsonObject, notes: Notes): EmbeddingRequest {
  const { input, dimensions } = body;
  notes.dropUnknown(body, expressible);
  const inputs = typeof input === 'string' ? [input] : asList(input);
  if (inputs.length === 0) throw invalid('input', 'a string or a list with at least one entry');
  return { inputs: inputs.map((text, index) => readInput(text, index)), dimensions };
}

function readInput(input: JsonValue, index: number): string {
  if (input === '') throw invalid(`input[${index}]`, 'non-empty');
  if (typeof input === 'string') return input;
  if (typeof input !== 'number' && !Array.isArray(input)) throw invalid(`input[${index}]`, 'a string');
  const message = 'This model takes texts, not tokens: its route has another tokenizer.';
  throw new GatewayError('unsupported_content', message, { param: 'input' });
}

/** Writes one batch request, whether the client asks for one vector or several. */
export function writeGemini({ inputs, dimensions }: EmbeddingRequest, model: string): JsonObject {
  const requests = inputs.map((text) =>
    withoutUnset({ model: `models/${model}`, content: { parts: [{ text }] }, outputDimensionality: dimensions }),
  );
  return { requests };
}

const geminiExpressible = new Set(['model', 'content', 'outputDimensionality']);

/** @throws GatewayError `invalid_request`, `unsupported_content` */
export function readGemini(body: JsonObject, notes: Notes): EmbeddingRequest {
  const { requests } = fieldsOf(body);
  const all = requests === undefined ? [fieldsOf(body)] : asList(requests).map((request) => fieldsOf(request));
  const [first] = all;
  if (first === undefined) throw invalid('requests', 'a list with at least one entry');
  const dimensions = first['outputDimensionality'];
  if (all.some(({ outputDimensionality: other }) => other !== dimensions))
    throw invalid(
      'requests.outputDimensionality',
      'the same in each request, because this model’s route has one for all',
    );
  for (const request of all) notes.dropUnknown(request, geminiExpressible);
  return { inputs: all.map(({ content }, index) => readParts(content, index)), dimensions };
}

function readParts(content: JsonValue | undefined, index: number): string {
  const parts = asList(fieldsOf(content)['parts']).map((part) => fieldsOf(part)['text']);
  if (parts.length === 0) throw invalid(`requests[${index}].content.parts`, 'a list with at least one entry');
  if (parts.every((text) => text === ''))
    throw invalid(`requests[${index}].content.parts`, 'a list with a non-empty text');
  if (parts.every((text) => typeof text === 'string')) return parts.join('\n');
  throw new GatewayError('unsupported_content', 'This model makes vectors of texts only.', { param: 'content' });
}

export function writeOpenai({ inputs, dimensions }: EmbeddingRequest, model: string): JsonObject {
  return withoutUnset({ model, input: [...inputs], encoding_format: 'float', dimensions });
}

/** Converts an answer of Google's format to OpenAI's. Google usually reports no token counts, so they are estimated. */
export function toOpenaiAnswer(body: JsonObject, request: EmbeddingRequest, encoding: VectorEncoding): JsonObject {
  const vectors = asList(body['embeddings']).map((embedding) => fieldsOf(embedding)['values'] ?? []);
  const data = vectors.map((vector, index) => ({
    object: 'embedding',
    index,
    embedding: encoding === 'base64' ? encodeVector(asList(vector)) : vector,
  }));
  const counted = count(fieldsOf(body['usageMetadata'])['promptTokenCount']);
  const tokens = counted ?? request.inputs.reduce((sum, text) => sum + estimateTokenCount(text), 0);
  return { object: 'list', data, model: '', usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** 32-bit floats, little-endian. Source: OpenAI API reference, `encoding_format`. */
export function encodeVector(vector: readonly JsonValue[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(scalarNumber(value), index * 4));
  return bytes.toString('base64');
}

/**
 * Converts an answer of OpenAI's format to Google's.
 *
 * @param isBatch true for a request with several entries
 */
export function toGeminiAnswer(body: JsonObject, isBatch: boolean): JsonObject {
  const entries = asList(body['data']).map((entry) => fieldsOf(entry));
  const sorted = entries.toSorted((a, b) => scalarNumber(a['index'] ?? 0) - scalarNumber(b['index'] ?? 0));
  const vectors = sorted.map(({ embedding }) => ({ values: decodeVector(embedding) }));
  const usage = fieldsOf(body['usage'])['promptTokens'];
  const counted = usage === undefined ? {} : { usageMetadata: { promptTokenCount: usage } };
  return isBatch ? { embeddings: vectors, ...counted } : { embedding: vectors[0] ?? { values: [] }, ...counted };
}

/** Some servers send base64 for every request. */
export function decodeVector(embedding: JsonValue | undefined): JsonValue {
  if (typeof embedding !== 'string') return [...asList(embedding)];
  const bytes = Buffer.from(embedding, 'base64');
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}
