import type { Model } from '#core/catalog/catalog.ts';
import { GatewayError } from '#core/errors/table.ts';
import type { Host } from '#core/host.ts';

/** Finds the model of a short name, a public name or an alias. @throws GatewayError `model_not_found`, with the nearest name */
export function findModel({ catalog }: Host, name: string): Model {
  const model = catalog.resolve(name);
  if (model !== undefined) return model;
  const suggestion = catalog.suggest(name);
  const hint = suggestion === undefined ? 'GET /v1/models lists all models.' : `Did you mean "${suggestion}"?`;
  const message = `Model "${name.slice(0, 200)}" not found. ${hint}`;
  throw new GatewayError('model_not_found', message, { param: 'model' });
}
