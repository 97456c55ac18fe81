import type { ListedModel } from '#core/catalog/catalog.ts';
import { nameInReply } from '#core/catalog/model-name.ts';
import { GatewayError } from '#core/errors/table.ts';
import { entitlement } from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import type { Exchange } from '#core/pipeline/exchange.ts';
import type { Reply } from '#core/pipeline/reply.ts';
import { findModel } from './request/find-model.ts';

/** The list depends on the key and on the time. */
const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/**
 * Answers with the models that the caller can use now: all while a period is active, or where no stage asks for one; else
 * none, and `x-daypass-notice` (for a service named Daypass) says why.
 */
export function listOffered(
  { catalog, service }: Host,
  exchange: Exchange,
  write: (models: readonly ListedModel[]) => object,
): Reply {
  const reason = exchange.find(entitlement)?.inactiveReason;
  const notice = reason === undefined ? {} : { [`x-${service.slug}-notice`]: headerText(reason) };
  const body = JSON.stringify(write(reason === undefined ? catalog.listed : []));
  return { status: 200, headers: { ...headers, ...notice }, body };
}

/**
 * Answers with the model in the path, whose name is the one that answers carry.
 *
 * @throws GatewayError `plan_inactive`, `model_not_found`
 */
export function describeOffered(host: Host, exchange: Exchange, write: (model: ListedModel) => object): Reply {
  const reason = exchange.find(entitlement)?.inactiveReason;
  if (reason !== undefined) throw new GatewayError('plan_inactive', reason);
  const requested = exchange.params['id'] ?? '';
  const model = findModel(host, requested);
  return { status: 200, headers, body: JSON.stringify(write({ name: nameInReply(model, requested), model })) };
}

/** A header carries ASCII only; what else may occur is in the base URL. */
function headerText(text: string): string {
  return text.toWellFormed().replace(/[^ -~]+/g, encodeURIComponent);
}
