import type { Server } from '@hapi/hapi';
import { defineSection } from '#core/config/section.ts';
import type { JobDefinition } from '#core/gateway/host/host.ts';
import type { Endpoint } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import { integer, number, object } from '#core/platform/schema.ts';
import { cleanUpResponses } from './clean-up.ts';
import { cancelResponse, deleteResponse, getResponse, listInputItems, refuseUnsupported } from './endpoints.ts';

export function registerResponsesStore(server: Server): void {
  const registerEndpoint = (name: string, definition: Pick<Endpoint, 'method' | 'path' | 'answer' | 'documentation'>) =>
    server.gateway.endpoint({ ...definition, name, dialect: 'openai', isMetered: false, isAliased: true });
  server.gateway.section(responsesSection);
  server.gateway.tables({
    name: 'response_store',
    entities: async () => Object.values(await import('./entities.ts')),
  });
  server.gateway.job(cleanupJob);
  // Codex calls this path to compact conversations. The refusal tells its user what to do.
  registerEndpoint('responses_compact', { method: 'POST', path: '/v1/responses/compact', answer: refuseUnsupported });
  registerEndpoint('get_response', {
    documentation: { summary: 'format.docs.get_response' },
    method: 'GET',
    path: '/v1/responses/{id}',
    answer: (exchange) => getResponse(server.host(), exchange),
  });
  registerEndpoint('cancel_response', {
    documentation: { summary: 'format.docs.cancel_response' },
    method: 'POST',
    path: '/v1/responses/{id}/cancel',
    answer: (exchange) => cancelResponse(server.host(), exchange),
  });
  registerEndpoint('delete_response', {
    documentation: { summary: 'format.docs.delete_response' },
    method: 'DELETE',
    path: '/v1/responses/{id}',
    answer: (exchange) => deleteResponse(server.host(), exchange),
  });
  registerEndpoint('list_input_items', {
    documentation: { summary: 'format.docs.list_input_items' },
    method: 'GET',
    path: '/v1/responses/{id}/input_items',
    answer: (exchange) => listInputItems(server.host(), exchange),
  });
}

const MiB = 1024 ** 2;

export const responsesSection = defineSection({
  name: 'responses',
  schema: object(
    { default: {} },
    'Stores responses from /v1/responses, so that clients can continue and retrieve them.',
    {
      keep_hours: number(
        { minimum: 0, maximum: 8784, default: 24 },
        'How many hours a response can be continued and retrieved; 0 stores none.',
      ),
      max_bytes: integer(
        { minimum: 1024, maximum: bounds.storedResponse, default: 4 * MiB },
        'Maximum bytes of a stored conversation, including the response.',
      ),
      max_account_bytes: integer(
        { minimum: MiB, default: 256 * MiB },
        "Maximum bytes of one account's stored conversations, at least 1048576 (1 MiB); the oldest are deleted first. Each " +
          'response counts at the full size of its conversation.',
      ),
    },
  ),
  notices: ({ max_bytes: perResponse, max_account_bytes: perAccount }) =>
    perResponse > perAccount
      ? [`responses.max_bytes (${perResponse}) exceeds responses.max_account_bytes (${perAccount})`]
      : [],
});

const eventRetentionMs = 3_600_000; // after that, a response's events are recreated from its object

/** Safe to run twice or concurrently. */
const cleanupJob: JobDefinition = {
  name: 'responses-cleanup',
  description: 'Deletes expired stored responses, and fails background responses whose instance has stopped.',
  schedule: { every: 60 * 60 },
  async run(_data, host) {
    const count = await cleanUpResponses(host, eventRetentionMs);
    if (count > 0) host.log.info(`deleted ${count} expired stored responses`);
  },
};
