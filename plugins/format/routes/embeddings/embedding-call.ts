import type { Route } from '#core/config/catalog/catalog.ts';
import type { ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../canonical/notes.ts';
import type { FormatDescriptor } from '../../formats/contract/descriptor.ts';
import {
  type EmbeddingRequest,
  readGeminiRequest,
  readOpenaiRequest,
  toGeminiReply,
  toOpenaiReply,
  writeGeminiRequest,
  writeOpenaiRequest,
} from '../../formats/embeddings/convert.ts';
import { embeddings, geminiEmbeddings } from '../../formats/embeddings/descriptor.ts';
import type { ClientRequest } from '../../request/client-request.ts';
import { asList } from '../../wire/members.ts';
import { ModelNamer } from '../pass-through/model-namer.ts';
import { PassThroughReader } from '../pass-through/reader.ts';
import type { PreparedCall } from '../translation/prepared-call.ts';

const headers = { 'content-type': 'application/json', accept: 'application/json' };

/** Returns true if a request must be rewritten: the formats differ or, in Google's format, the body names the model. */
export function isEmbeddingCall({ format }: ClientRequest, upstream: FormatDescriptor): boolean {
  return format === geminiEmbeddings || (format === embeddings && upstream === geminiEmbeddings);
}

export class EmbeddingCall implements PreparedCall {
  readonly request: UpstreamRequest;
  readonly #id: string;
  readonly #client: ClientRequest;
  readonly #upstream: FormatDescriptor;
  /** Undefined if the request is already in the upstream's format. */
  readonly #embeddingRequest: EmbeddingRequest | undefined;

  /** @throws GatewayError `invalid_request`, `unsupported_content` */
  constructor(exchangeId: string, client: ClientRequest, route: Route, upstream: FormatDescriptor) {
    this.#id = exchangeId;
    this.#client = client;
    this.#upstream = upstream;
    const { format, body } = client;
    const notes = new Notes();
    const isSameFormat = format === upstream;
    const request = readEmbeddingRequest(client, upstream, notes);
    this.#embeddingRequest = request;
    this.request = {
      format: upstream.name,
      path:
        isSameFormat && !isBatch(body)
          ? `/models/${encodeURIComponent(route.model)}:embedContent`
          : upstream.path(route.model, false, 'answer'),
      headers,
      body: JSON.stringify(request === undefined ? setModel(body, route.model) : this.#encode(request, route.model)),
      notes: notes.entries,
    };
  }

  createReader(): ReplyReader {
    const { format, model, outline } = this.#client;
    const { client, dialect } = format;
    const { modelPlace } = client;
    return new PassThroughReader(
      client.createObserver(outline),
      { id: this.#id, dialect },
      {
        repair: {
          failure: undefined,
          repairEvent: (event) => [event],
          repairReply: (answer) => this.#convertToClientFormat(answer),
        },
        namer: modelPlace && new ModelNamer(model, modelPlace),
        readLargeUsage: this.#embeddingRequest === undefined ? client.readLargeUsage : undefined,
      },
    );
  }

  #encode(request: EmbeddingRequest, model: string): JsonObject {
    return this.#upstream === geminiEmbeddings
      ? writeGeminiRequest(request, model)
      : writeOpenaiRequest(request, model);
  }

  #convertToClientFormat(answer: JsonObject): JsonObject {
    const { body } = this.#client;
    if (this.#embeddingRequest === undefined || answer['error'] !== undefined) return answer;
    if (this.#upstream === embeddings) return toGeminiReply(answer, isBatch(body));
    return toOpenaiReply(answer, this.#embeddingRequest, body['encoding_format'] === 'base64' ? 'base64' : 'float');
  }
}

function readEmbeddingRequest(
  { format, body }: ClientRequest,
  upstream: FormatDescriptor,
  notes: Notes,
): EmbeddingRequest | undefined {
  if (format === embeddings) return readOpenaiRequest(body, notes);
  return format === upstream ? undefined : readGeminiRequest(body, notes);
}

function isBatch({ requests }: JsonObject): boolean {
  return requests !== undefined;
}

function setModel(body: JsonObject, model: string): JsonObject {
  const name = `models/${model}`;
  if (!isBatch(body)) return { ...body, model: name };
  // Each request in a batch names the model too.
  const requests = asList(body['requests']).map((request) => ({ ...(request as JsonObject), model: name }));
  return { ...body, requests };
}
