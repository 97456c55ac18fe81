import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { Adapter, ReplyReader, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { ClientFormat, ModelEndpoint } from '../../formats/contract/descriptor.ts';
import type { ClientCall } from '../../formats/formats.ts';
import { type Form, replaceFields } from '../../request/form.ts';
import { BytesReader } from '../pass-through/bytes-reader.ts';
import { PassThroughReader } from '../pass-through/reader.ts';

/**
 * A call whose request is a form with files. Routes of its format get the form unchanged, except for the model and the end user. The form
 * is buffered in memory, so that it can be sent to one route after another, see docs/decisions/0040-forms-are-held.md.
 */
export class UploadCall implements Adapter {
  readonly model: Model;
  readonly modelName: string;
  readonly isStream: boolean;
  /** The conversation key. It is the id of the exchange, because uploads are not conversations. */
  readonly opening: string;
  readonly #id: string;
  readonly #form: Form;
  readonly #endUser: string | undefined;
  readonly #contentType: string;
  readonly #format: ClientFormat;
  readonly #endpoint: ModelEndpoint;

  /** @param endUser the account, for upstreams that are configured to receive it */
  constructor(
    exchange: Exchange,
    { format, endpoint }: ClientCall,
    model: Model,
    modelName: string,
    form: Form,
    endUser?: string,
  ) {
    const { fields } = form;
    this.model = model;
    this.modelName = modelName;
    this.#id = exchange.id;
    this.opening = exchange.id;
    this.isStream = format.client.isStream?.(fields) ?? fields['stream'] === 'true';
    this.#form = form;
    this.#endUser = endUser;
    this.#contentType = String(exchange.headers['content-type']);
    this.#format = format;
    this.#endpoint = endpoint;
  }

  canServe({ upstream }: Route): boolean {
    return upstream.formats.includes(this.#format.name);
  }

  encode({ model, upstream, profile }: Route): UpstreamRequest {
    const { upstreamPath, path } = this.#endpoint;
    // Formats whose requests can name an end user have `adapt`; formats of speech have neither.
    const wantsEndUser = upstream.endUser === 'hash' && this.#format.client.adapt !== undefined;
    const acceptsEndUser = wantsEndUser && profileIn(this.#format.name, profile).quirks.end_user;
    const user = acceptsEndUser ? this.#endUser : undefined;
    return {
      format: this.#format.name,
      path: upstreamPath ?? path,
      headers: { 'content-type': this.#contentType, accept: this.isStream ? 'text/event-stream' : '*/*' },
      body: replaceFields(this.#form, user === undefined ? { model } : { model, user }),
    };
  }

  read(): ReplyReader {
    const { client, dialect } = this.#format;
    const { fields } = this.#form;
    const reader = new PassThroughReader(client.createObserver(fields), { id: this.#id, dialect });
    const isByteType = client.createByteTypeTest?.(fields);
    return isByteType === undefined ? reader : new BytesReader(isByteType, reader);
  }
}
