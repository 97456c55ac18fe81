import type { Model } from '#core/catalog.ts';
import { GatewayError } from '#core/errors.ts';
import { adapter } from '#core/facts.ts';
import type { Host } from '#core/host.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import { readClientRequest } from './client-request.ts';
import { countTokens } from './count-tokens.ts';
import { asJsonArray } from './gemini/json-array.ts';
import { ModelCall } from './model-call.ts';
import { checkParameters, requiredParameters } from './parameters.ts';
import { ResponsesStore } from './responses-store/store.ts';
import { wires } from './wire.ts';

/**
 * Reads what the client wants and finds the model in the catalog.
 *
 * @throws GatewayError `invalid_request` naming the parameter, `model_not_found`, `not_supported`,
 *   `previous_response_not_found`
 */
export const formatStage = defineStage({
  name: 'format',
  description: 'Reads the request in the client’s format and prepares it for the routes of its model.',
  writes: [adapter],
  options: { type: 'object', additionalProperties: false },
  create(_options, host) {
    const store = new ResponsesStore(host);
    return {
      leave: (exchange, reply) => store.leave(exchange, asJsonArray(exchange, reply)),
      async enter(exchange) {
        const { format } = exchange;
        if (format === undefined) return;
        const request = await store.enter(exchange, await readClientRequest(exchange, format));
        const model = findModel(host, request.model);
        checkParameters(request.body, wires[format].parameters, requiredParameters[exchange.endpoint.name] ?? []);
        const call = new ModelCall(exchange, model, request);
        const { refusal } = call;
        if (refusal !== undefined && request.purpose === 'count') return countTokens(request);
        if (refusal !== undefined) throw refusal;
        exchange.set(adapter, call);
      },
    };
  },
});

function findModel(host: Host, name: string): Model {
  const model = host.catalog.resolve(name);
  if (model !== undefined) return model;
  const shown = name.slice(0, 200);
  const suggestion = host.catalog.suggest(name);
  const hint = suggestion === undefined ? 'GET /v1/models lists what there is' : `did you mean ${suggestion}?`;
  throw new GatewayError('model_not_found', `the model ${shown} does not exist here; ${hint}`, { param: 'model' });
}
