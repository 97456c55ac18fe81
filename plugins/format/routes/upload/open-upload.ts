import { getEndUserIds } from '#core/business/accounts/end-user-id.ts';
import { nameInReply } from '#core/config/catalog/model-name.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { requireParameters } from '../../formats/contract/parameters.ts';
import type { ClientCall } from '../../formats/formats.ts';
import { findModel, requireModel } from '../../request/client-request.ts';
import { isForm, readForm } from '../../request/form.ts';
import { requireFormat, requireKind } from '../../request/upstream-format.ts';
import { mediaTypeOf } from '../../wire/media-type.ts';
import { UploadCall } from './upload-call.ts';

/** @throws GatewayError `unsupported_media_type` if the endpoint takes forms and the body is neither a form nor JSON */
export function isUpload({ headers }: Exchange, { endpoint }: ClientCall): boolean {
  if (endpoint.isMultipart !== true) return false;
  const type = headers['content-type'];
  if (isForm(type)) return true;
  if (mediaTypeOf(type ?? '') === 'application/json') return false;
  throw new GatewayError('unsupported_media_type', 'Send this request as multipart/form-data.');
}

/** @throws GatewayError `invalid_request`, `model_not_found`, `wrong_endpoint`, or an error in reading the body */
export async function openUpload(host: Host, exchange: Exchange, call: ClientCall): Promise<UploadCall> {
  const { body, headers } = exchange;
  const bytes = await (body.form?.() ?? body.bytes());
  const form = readForm(bytes, String(headers['content-type']));
  const requestedModel = requireModel(form.fields['model']);
  const model = findModel(host, requestedModel);
  requireKind(model, requestedModel, call.format);
  requireParameters(form.fields, call.format.client.parameters, call.endpoint.required);
  requireFormat(model, call.format);
  const endUser = await getEndUserIds(host).computeId(exchange, model);
  return new UploadCall(exchange, call, model, nameInReply(model, requestedModel), form, endUser);
}
