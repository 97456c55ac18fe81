import { adapter } from '#core/facts.ts';
import { defineStage } from '#core/pipeline/stage.ts';
import { readClientRequest } from './client-request.ts';
import { countTokens } from './count-tokens.ts';
import { findModel } from './find-model.ts';
import { asJsonArray } from './gemini/json-array.ts';
import { openCall } from './model-call.ts';
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
        const call = openCall(exchange, model, request);
        const { refusal } = call;
        if (refusal !== undefined && request.purpose === 'count') return countTokens(request);
        if (refusal !== undefined) throw refusal;
        exchange.set(adapter, call);
      },
    };
  },
});
