import type { Model, Route } from '#core/config/catalog/catalog.ts';
import type { Adapter, ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { ClientFormat, ModelEndpoint } from '../../formats/contract/descriptor.ts';
import type { ClientCall } from '../../formats/formats.ts';
import { type Form, withModel } from '../../request/form.ts';
import { BytesReader } from '../pass-through/bytes-reader.ts';
import { PassThroughReader } from '../pass-through/reader.ts';

/**
 * A call whose request is a form with files. Routes of its format get it as it came, but for the name of the model. The form
 * is held in memory, so that each route can be asked: docs/decisions/0040-forms-are-held.md.
 */
export class UploadCall implements Adapter {
  readonly model: Model;
  readonly modelName: string;
  readonly isStream: boolean;
  /** Uploads are no conversation. */
  readonly opening: string;
  readonly #form: Form;
  readonly #contentType: string;
  readonly #format: ClientFormat;
  readonly #endpoint: ModelEndpoint;

  constructor(exchange: Exchange, { format, endpoint }: ClientCall, model: Model, modelName: string, form: Form) {
    const { fields } = form;
    this.model = model;
    this.modelName = modelName;
    this.opening = exchange.id;
    this.isStream = format.client.isStream?.(fields) ?? fields['stream'] === 'true';
    this.#form = form;
    this.#contentType = String(exchange.headers['content-type']);
    this.#format = format;
    this.#endpoint = endpoint;
  }

  canServe({ upstream }: Route): boolean {
    return upstream.formats.includes(this.#format.name);
  }

  encode({ model }: Route): UpstreamRequest {
    const { upstreamPath, path } = this.#endpoint;
    return {
      format: this.#format.name,
      path: upstreamPath ?? path,
      headers: { 'content-type': this.#contentType, accept: this.isStream ? 'text/event-stream' : '*/*' },
      body: withModel(this.#form, model),
    };
  }

  read(): ReplyReader {
    const { client } = this.#format;
    const { fields } = this.#form;
    const reader = new PassThroughReader(client.observe(this.opening, fields));
    const isBytes = client.bytes?.(fields);
    return isBytes === undefined ? reader : new BytesReader(isBytes, reader);
  }
}
