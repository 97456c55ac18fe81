import type { Model } from '#core/catalog/catalog.ts';
import { GatewayError } from '#core/errors/table.ts';
import type { Host } from '#core/host.ts';

/** The model of a name or of an alias. @throws GatewayError `model_not_found`, which says what may have been meant */
export function findModel({ catalog }: Host, name: string): Model {
  const model = catalog.resolve(name);
  if (model !== undefined) return model;
  const suggestion = catalog.suggest(name);
  const hint = suggestion === undefined ? 'GET /v1/models lists what there is' : `did you mean ${suggestion}?`;
  const message = `the model ${name.slice(0, 200)} does not exist here; ${hint}`;
  throw new GatewayError('model_not_found', message, { param: 'model' });
}
