import { adapter } from '#core/gateway/facts.ts';
import { defineStage } from '#core/gateway/pipeline/stage.ts';
import { number, object } from '#core/platform/schema.ts';

/**
 * Reads the client's request and finds its model in the catalog.
 *
 * @throws GatewayError `invalid_request` naming the parameter, `model_not_found`, `not_supported`,
 *   `previous_response_not_found`, `wrong_endpoint`
 */
export const formatStage = defineStage({
  name: 'format',
  description: 'Parses the request in the client’s format and prepares it for the routes of its model.',
  writes: [adapter],
  options: object({
    keep_reasoning_hours: number(
      { minimum: 0, maximum: 720, default: 24 },
      'How many hours the reasoning before tool calls is kept for clients that do not send it back: Chat clients, and Messages clients that did not ask for thinking; 0 keeps none.',
    ),
  }),
  create: async ({ keep_reasoning_hours: retentionHours }, host) =>
    (await import('./create-stage.ts')).createFormatStage(retentionHours, host),
});
